//===- JsonText.h - One text out of one line of JSON ----------------------===//
//
// A JSONL corpus is gigabytes of lines of which one string each is wanted. This reader checks the line
// against the JSON grammar (RFC 8259) and copies only that string, in one pass without building a tree.
// Strings need not be UTF-8; nesting is limited, and never by the stack.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_DATA_JSONTEXT_H
#define WEFT_RUNTIME_DATA_JSONTEXT_H

#include "absl/status/status.h"

#include <string>
#include <string_view>

namespace weft {

/// Sets `text` to the string under `key` of the object that `line` is. Errors say what is wrong and at which
/// column (from 1), without the name of the file.
absl::Status readJsonText(std::string_view line, std::string_view key, std::string &text);

} // namespace weft

#endif // WEFT_RUNTIME_DATA_JSONTEXT_H
