//===- RegexSplitter.h - Pieces by a regular expression -------------------===//
//
// For patterns that no matcher is written for. The matches are the pieces; text between them is left out, as
// tiktoken does.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TOKENIZER_REGEXSPLITTER_H
#define WEFT_RUNTIME_TOKENIZER_REGEXSPLITTER_H

#include "runtime/tokenizer/RegexDialect.h"
#include "runtime/tokenizer/Splitter.h"

#include "absl/status/statusor.h"

#include <memory>
#include <string_view>

namespace weft {

/// The errors are those of Regex::compile().
absl::StatusOr<std::unique_ptr<Splitter>> createRegexSplitter(std::string_view pattern, RegexDialect dialect);

} // namespace weft

#endif // WEFT_RUNTIME_TOKENIZER_REGEXSPLITTER_H
