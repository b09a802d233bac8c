//===- AddedTokens.h - Tokens found in a text before anything else --------===//
//
// A tokenizer.json lists tokens that are looked for in the text itself: first those that are compared with
// the text as it is, then, in what lies between them, those compared with the normalized text. Of the tokens
// that match, the one that begins first counts, of these the longest.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TOKENIZER_ADDEDTOKENS_H
#define WEFT_RUNTIME_TOKENIZER_ADDEDTOKENS_H

#include "runtime/tokenizer/StringMatcher.h"

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

struct AddedToken {
  int32_t id = 0;
  std::string content;
  bool isSingleWord = false; ///< no word character stands beside it
  bool stripsLeft = false;   ///< white space before it belongs to it
  bool stripsRight = false;  ///< white space behind it belongs to it
  bool isNormalized = false; ///< compared with the normalized text
  bool isSpecial = false;
};

class AddedTokens {
public:
  /// `spellings[i]` is how tokens[i] stands in the text, none of them empty.
  AddedTokens(std::vector<AddedToken> tokens, const std::vector<std::string> &spellings);

  /// Calls `segment(begin, end, token)` for all of `text`, in order; token is null for what lies between
  /// tokens. Special tokens count only if `readsSpecial`.
  absl::Status
  forEachSegment(std::string_view text, bool readsSpecial,
                 absl::FunctionRef<absl::Status(size_t, size_t, const AddedToken *)> segment) const;

  /// Whether no token lies across `position`, or would if the text went on behind its end.
  bool mayCutAt(std::string_view text, size_t position) const;

private:
  std::vector<AddedToken> tokens;
  StringMatcher matcher;
  /// Whether all tokens are just their text, so that it alone decides where they lie.
  bool isPlain = true;
};

} // namespace weft

#endif // WEFT_RUNTIME_TOKENIZER_ADDEDTOKENS_H
