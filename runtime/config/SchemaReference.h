//===- SchemaReference.h - The schema, to be read -------------------------===//
//
// The same table for people (a terminal, docs/config.md) and for editors (JSON Schema).
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_CONFIG_SCHEMAREFERENCE_H
#define WEFT_RUNTIME_CONFIG_SCHEMAREFERENCE_H

#include "absl/status/statusor.h"

#include <string>

namespace weft {

/// All about one key, or the keys of one section in a line each. INVALID_ARGUMENT with the nearest known
/// path.
absl::StatusOr<std::string> explainPath(const std::string &path);
/// Every section with its keys, one line each.
std::string explainAll();
/// The whole reference: docs/config.md.
std::string referenceMarkdown();
/// JSON Schema, draft 2020-12, of a run file.
std::string jsonSchema();

} // namespace weft

#endif // WEFT_RUNTIME_CONFIG_SCHEMAREFERENCE_H
