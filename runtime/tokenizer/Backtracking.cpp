//===- Backtracking.cpp - Encoding from left to right ---------------------===//
//
// Whether two tokens may stand side by side: their merges are undone, the latest first, along the border
// between them. If at some moment the two parts at the border would have merged earlier than what was undone
// last, the tokens would never have come about.
//
//===----------------------------------------------------------------------===//
#include "runtime/tokenizer/Backtracking.h"

#include <algorithm>

namespace weft {
namespace {

/// Whether encoding the joined spellings of two tokens gives these two.
bool standSideBySide(int32_t left, int32_t right, const MergeTable &merges,
                     const std::vector<TokenOrigin> &origins) {
  int32_t limit = MergeTable::never;
  while (true) {
    if (merges.rankOf(left, right) < limit)
      return false;
    const TokenOrigin &ofLeft = origins[static_cast<size_t>(left)],
                      &ofRight = origins[static_cast<size_t>(right)];
    if (ofLeft.rank < 0 && ofRight.rank < 0)
      return true;
    if (ofLeft.rank > ofRight.rank) {
      limit = ofLeft.rank;
      left = ofLeft.right;
    } else {
      // Of equal ranks the leftmost merges first, and the border is left of this one.
      limit = ofRight.rank + 1;
      right = ofRight.left;
    }
  }
}

} // namespace

Backtracking::Backtracking(const std::vector<std::string> &tokens, std::vector<int32_t> reachable,
                           const std::vector<TokenOrigin> &origins) {
  const auto rankOf = [&](int32_t id) { return origins[static_cast<size_t>(id)].rank; };
  canEncode = std::ranges::all_of(reachable, [&](int32_t id) {
    const TokenOrigin &origin = origins[static_cast<size_t>(id)];
    return origin.rank < 0 || origin.rank > std::max(rankOf(origin.left), rankOf(origin.right));
  });
  if (canEncode)
    trie = TokenTrie(tokens, std::move(reachable));
}

void Backtracking::encode(std::string_view text, const std::vector<std::string> &tokens,
                          const MergeTable &merges, const std::vector<TokenOrigin> &origins,
                          std::vector<bool> &isOpen, std::vector<int32_t> &encoded) const {
  const auto sizeOf = [&](int32_t id) { return tokens[static_cast<size_t>(id)].size(); };
  isOpen.assign(text.size() + 1, true);
  const size_t first = encoded.size();
  size_t position = 0;
  int32_t token = trie.longest(text);
  while (position < text.size()) {
    const bool isFirst = encoded.size() == first;
    while (token != TokenTrie::none &&
           !(isOpen[position + sizeOf(token)] &&
             (isFirst || standSideBySide(encoded.back(), token, merges, origins))))
      token = trie.nextShorter(token);
    if (token != TokenTrie::none) {
      encoded.push_back(token);
      position += sizeOf(token);
      token = trie.longest(text.substr(position));
      continue;
    }
    isOpen[position] = false;
    token = encoded.back();
    encoded.pop_back();
    position -= sizeOf(token);
  }
}

} // namespace weft
