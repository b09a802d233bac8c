//===- TokenTrie.h - The longest token that a text begins with ------------===//
//
// Spellings as paths of bytes. The children of a node lie side by side in ascending order, level by level, so
// that a vocabulary takes a few megabytes, most steps read one line of memory.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TOKENIZER_TOKENTRIE_H
#define WEFT_RUNTIME_TOKENIZER_TOKENTRIE_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

class TokenTrie {
public:
  static constexpr int32_t none = -1;

  TokenTrie() = default;
  /// `ids` are those of the tokens in it; their spellings differ and are not empty.
  TokenTrie(const std::vector<std::string> &tokens, std::vector<int32_t> ids);

  /// `none` when the text begins with no token.
  int32_t longest(std::string_view text) const;
  /// The longest token that begins this one and is shorter.
  int32_t nextShorter(int32_t id) const { return shorter[static_cast<size_t>(id)]; }

private:
  struct Node {
    uint32_t firstChild = 0;
    uint32_t children = 0;
    int32_t token = none;
  };
  struct Range;
  void addChildren(const std::vector<std::string> &tokens, const std::vector<int32_t> &sorted, Range range,
                   std::vector<Range> &next);
  /// The child under the byte; 0 when there is none.
  uint32_t childOf(const Node &node, unsigned char byte) const;

  std::vector<Node> nodes;
  std::vector<unsigned char> labels; ///< the byte that leads to each node
  std::vector<int32_t> shorter;
};

} // namespace weft

#endif // WEFT_RUNTIME_TOKENIZER_TOKENTRIE_H
