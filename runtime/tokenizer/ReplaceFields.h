//===- ReplaceFields.h - Replace as files write it ------------------------===//
//
// The normalizer and the decoder of this name share their fields.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TOKENIZER_REPLACEFIELDS_H
#define WEFT_RUNTIME_TOKENIZER_REPLACEFIELDS_H

#include "runtime/tokenizer/TextPattern.h"

#include <string>

namespace weft {

struct ReplaceFields {
  TextPattern pattern;
  /// What comes instead of each match.
  std::string content;

  static absl::StatusOr<ReplaceFields> read(const JsonFields &fields);
};

} // namespace weft

#endif // WEFT_RUNTIME_TOKENIZER_REPLACEFIELDS_H
