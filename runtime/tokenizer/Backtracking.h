//===- Backtracking.h - Encoding from left to right -----------------------===//
//
// A sequence of tokens is the encoding of its text exactly if each two neighbors are the encoding of theirs:
// the first merge that would cross a border of the sequence would cross the same border with nothing but the
// two tokens around it. And a text has one encoding, so of the tokens that end at one byte only one can be
// the last of the encoding up to there. So tokens are tried from left to right, the longest first; a token
// that does not fit its left neighbor gives way to the next shorter one, and a byte behind which nothing fits
// is never come back to. The time is linear, and the memory one bit for each byte beside the tokens.
//
// (The algorithm is that of van Antwerpen and Neubeck, "So many tokens, so little time: introducing a faster,
// more flexible byte-pair tokenizer", 2024.)
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TOKENIZER_BACKTRACKING_H
#define WEFT_RUNTIME_TOKENIZER_BACKTRACKING_H

#include "runtime/tokenizer/MergeTable.h"
#include "runtime/tokenizer/TokenTrie.h"

#include <string_view>
#include <vector>

namespace weft {

/// How a token comes out of merging. Without a left one: it is a symbol, or does not.
struct TokenOrigin {
  int32_t rank = -1;
  int32_t left = -1;
  int32_t right = -1;
};

class Backtracking {
public:
  /// Not usable: for Merging.
  Backtracking() = default;
  /// `reachable`: the tokens that come out of merging, single bytes included. All 256 bytes must be tokens.
  Backtracking(const std::vector<std::string> &tokens, std::vector<int32_t> reachable,
               const std::vector<TokenOrigin> &origins);

  /// False for a vocabulary with a token of a lower rank than one that it is made of: then merges do not come
  /// in the order of ranks, by which neighbors are compared here. Training gives no such vocabulary.
  bool isUsable() const { return canEncode; }

  /// Appends the tokens of the text; `isOpen` is memory for the call.
  void encode(std::string_view text, const std::vector<std::string> &tokens, const MergeTable &merges,
              const std::vector<TokenOrigin> &origins, std::vector<bool> &isOpen,
              std::vector<int32_t> &encoded) const;

private:
  TokenTrie trie;
  bool canEncode = false;
};

} // namespace weft

#endif // WEFT_RUNTIME_TOKENIZER_BACKTRACKING_H
