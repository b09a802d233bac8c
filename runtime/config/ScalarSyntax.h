//===- ScalarSyntax.h - Numbers and truth values as text ------------------===//
//
// YAML's readings of a plain scalar, without the surprises: 010 is neither ten nor eight, yes is not true,
// and what does not fit its type is refused, never rounded.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_CONFIG_SCALARSYNTAX_H
#define WEFT_RUNTIME_CONFIG_SCALARSYNTAX_H

#include "runtime/config/ConfigTree.h"

#include "absl/status/statusor.h"

#include <cstdint>

namespace weft {

/// Each returns INVALID_ARGUMENT with only the reason and the remedy as its message; the caller knows the
/// place.
absl::StatusOr<int64_t> readInteger(const ConfigNode &node);
/// Finite; an integer is a number too.
absl::StatusOr<double> readNumber(const ConfigNode &node);
absl::StatusOr<bool> readBoolean(const ConfigNode &node);
absl::StatusOr<std::string> readText(const ConfigNode &node);
/// "8 GiB", or an integer: bytes.
absl::StatusOr<int64_t> readMemorySize(const ConfigNode &node);

} // namespace weft

#endif // WEFT_RUNTIME_CONFIG_SCALARSYNTAX_H
