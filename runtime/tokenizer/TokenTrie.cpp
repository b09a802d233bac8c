//===- TokenTrie.cpp - The longest token that a text begins with ----------===//
//
// Sorted spellings with a common beginning are a range, and so is each node; the ranges of one level become
// those of the next.
//
//===----------------------------------------------------------------------===//
#include "runtime/tokenizer/TokenTrie.h"

#include <algorithm>

namespace weft {

/// The sorted tokens that begin with the bytes that lead to a node.
struct TokenTrie::Range {
  uint32_t node;
  size_t begin;
  size_t end;
  size_t depth;
  int32_t shorter; ///< the longest token on the way
};

TokenTrie::TokenTrie(const std::vector<std::string> &tokens, std::vector<int32_t> ids)
    : shorter(tokens.size(), none) {
  const auto spelling = [&](int32_t id) -> const std::string & { return tokens[static_cast<size_t>(id)]; };
  std::sort(ids.begin(), ids.end(), [&](int32_t a, int32_t b) { return spelling(a) < spelling(b); });
  nodes.emplace_back();
  labels.push_back(0);
  std::vector<Range> level = {{0, 0, ids.size(), 0, none}};
  while (!level.empty()) {
    std::vector<Range> next;
    for (const Range &range : level)
      addChildren(tokens, ids, range, next);
    level = std::move(next);
  }
}

void TokenTrie::addChildren(const std::vector<std::string> &tokens, const std::vector<int32_t> &sorted,
                            Range range, std::vector<Range> &next) {
  const auto spelling = [&](size_t i) -> const std::string & {
    return tokens[static_cast<size_t>(sorted[i])];
  };
  // A spelling that ends here comes before those that go on.
  if (range.begin < range.end && spelling(range.begin).size() == range.depth) {
    const int32_t token = sorted[range.begin++];
    nodes[range.node].token = token;
    shorter[static_cast<size_t>(token)] = range.shorter;
    range.shorter = token;
  }
  nodes[range.node].firstChild = static_cast<uint32_t>(nodes.size());
  for (size_t begin = range.begin; begin < range.end;) {
    const char byte = spelling(begin)[range.depth];
    size_t end = begin + 1;
    while (end < range.end && spelling(end)[range.depth] == byte)
      ++end;
    next.push_back({static_cast<uint32_t>(nodes.size()), begin, end, range.depth + 1, range.shorter});
    nodes.emplace_back();
    labels.push_back(static_cast<unsigned char>(byte));
    ++nodes[range.node].children;
    begin = end;
  }
}

uint32_t TokenTrie::childOf(const Node &node, unsigned char byte) const {
  const unsigned char *first = labels.data() + node.firstChild, *last = first + node.children;
  if (node.children == 256)
    return node.firstChild + byte;
  const unsigned char *found =
      node.children > 8 ? std::lower_bound(first, last, byte) : std::find(first, last, byte);
  return found != last && *found == byte ? static_cast<uint32_t>(found - labels.data()) : 0;
}

int32_t TokenTrie::longest(std::string_view text) const {
  int32_t token = none;
  uint32_t node = 0;
  for (char byte : text) {
    node = childOf(nodes[node], static_cast<unsigned char>(byte));
    if (node == 0)
      break;
    if (nodes[node].token != none)
      token = nodes[node].token;
  }
  return token;
}

} // namespace weft
