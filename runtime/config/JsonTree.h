//===- JsonTree.h - JSON text to a tree -----------------------------------===//
//
// A Hugging Face config.json as a tree with line numbers. Duplicate keys and too deep nesting are refused, as
// in YAML.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_CONFIG_JSONTREE_H
#define WEFT_RUNTIME_CONFIG_JSONTREE_H

#include "runtime/config/ConfigTree.h"

#include "absl/status/statusor.h"

namespace weft {

/// INVALID_ARGUMENT with `SOURCE:LINE: what`.
absl::StatusOr<ConfigNode> readJson(const std::string &text, const std::string &source);

} // namespace weft

#endif // WEFT_RUNTIME_CONFIG_JSONTREE_H
