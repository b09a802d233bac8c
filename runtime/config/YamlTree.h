//===- YamlTree.h - YAML text to a tree -----------------------------------===//
//
// The part of YAML that has one reading: maps, lists and scalars. Refused, each with its line and what to
// write instead: duplicate keys, further documents, anchors and aliases, tags, keys that are not plain words,
// and text that is not YAML at all.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_CONFIG_YAMLTREE_H
#define WEFT_RUNTIME_CONFIG_YAMLTREE_H

#include "runtime/config/ConfigTree.h"

#include "absl/status/statusor.h"

namespace weft {

/// Reads one document. `source` names it in origins and messages; with `numbered` origins carry lines. An
/// empty text is a null node. INVALID_ARGUMENT with `SOURCE:LINE: what`.
absl::StatusOr<ConfigNode> readYaml(const std::string &text, const std::string &source, bool numbered = true);

} // namespace weft

#endif // WEFT_RUNTIME_CONFIG_YAMLTREE_H
