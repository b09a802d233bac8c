//===- Names.h - From a spelling to an enumerator -------------------------===//
//
// The names of an enumeration lie in a table in the order of its enumerators; this is the way back.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_KERNELS_REFERENCE_NAMES_H
#define WEFT_KERNELS_REFERENCE_NAMES_H

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace weft::reference {

template <typename Enumeration, size_t count>
std::optional<Enumeration> findName(const std::array<std::string_view, count> &names, std::string_view name) {
  auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end())
    return std::nullopt;
  return static_cast<Enumeration>(found - names.begin());
}

} // namespace weft::reference

#endif // WEFT_KERNELS_REFERENCE_NAMES_H
