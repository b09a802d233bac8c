//===- StringMatcher.h - The leftmost longest of many strings -------------===//
//
// Finds which of a fixed set of strings occurs first in a text, the longest if several begin there. A table
// of first bytes passes over text in which none begins; from there a trie is walked. Immutable.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TOKENIZER_STRINGMATCHER_H
#define WEFT_RUNTIME_TOKENIZER_STRINGMATCHER_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

class StringMatcher {
public:
  /// Of equal strings the first counts. None is empty.
  explicit StringMatcher(const std::vector<std::string> &strings);

  /// begin == end: none was found.
  struct Match {
    size_t begin;
    size_t end;
    size_t index;
  };
  Match find(std::string_view text, size_t from) const;

  /// How far the text from `begin` on is like the begin of some string; `begin` when not at all.
  size_t reach(std::string_view text, size_t begin) const;

  /// Bytes of the longest string.
  size_t longest() const { return longestBytes; }

private:
  static constexpr uint32_t none = ~uint32_t{0};
  struct Edge {
    unsigned char byte;
    uint32_t node;
  };
  struct Node {
    uint32_t string = none;
    std::vector<Edge> edges;
  };

  uint32_t follow(uint32_t node, char byte) const;

  std::vector<Node> nodes;
  std::array<bool, 256> isFirstByte{};
  /// The first byte when all strings share it.
  int onlyFirstByte = -1;
  size_t longestBytes = 0;
};

} // namespace weft

#endif // WEFT_RUNTIME_TOKENIZER_STRINGMATCHER_H
