//===- Concat.h - Text of parts -------------------------------------------===//
//
// absl::StrCat that also takes std::string_view, which Debian's Abseil does not: its string_view is a type of
// its own.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_SUPPORT_CONCAT_H
#define WEFT_RUNTIME_SUPPORT_CONCAT_H

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

#include <concepts>
#include <string>
#include <string_view>

namespace weft {

inline absl::string_view abslView(std::string_view text) { return {text.data(), text.size()}; }

template <typename Part> absl::AlphaNum abslPart(const Part &part) {
  if constexpr (std::convertible_to<const Part &, std::string_view>)
    return abslView(part);
  else
    return part;
}

/// The parts, one after the other; numbers in decimal.
template <typename... Parts> std::string concat(const Parts &...parts) {
  return absl::StrCat(abslPart(parts)...);
}

} // namespace weft

#endif // WEFT_RUNTIME_SUPPORT_CONCAT_H
