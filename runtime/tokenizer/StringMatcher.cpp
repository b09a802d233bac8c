//===- StringMatcher.cpp - The leftmost longest of many strings -----------===//
//
// Tokens are short and rarely begin alike, so walking the trie anew from each place where one may begin costs
// less than the failure links of an automaton.
//
//===----------------------------------------------------------------------===//
#include "runtime/tokenizer/StringMatcher.h"

#include <algorithm>
#include <cstring>

namespace weft {

StringMatcher::StringMatcher(const std::vector<std::string> &strings) : nodes(1) {
  for (size_t i = 0; i < strings.size(); ++i) {
    uint32_t node = 0;
    for (char byte : strings[i]) {
      uint32_t next = follow(node, byte);
      if (next == none) {
        next = static_cast<uint32_t>(nodes.size());
        nodes[node].edges.push_back({static_cast<unsigned char>(byte), next});
        nodes.emplace_back();
      }
      node = next;
    }
    if (nodes[node].string == none)
      nodes[node].string = static_cast<uint32_t>(i);
    longestBytes = std::max(longestBytes, strings[i].size());
  }
  for (const Edge &edge : nodes[0].edges)
    isFirstByte[edge.byte] = true;
  if (nodes[0].edges.size() == 1)
    onlyFirstByte = nodes[0].edges[0].byte;
}

uint32_t StringMatcher::follow(uint32_t node, char byte) const {
  for (const Edge &edge : nodes[node].edges)
    if (edge.byte == static_cast<unsigned char>(byte))
      return edge.node;
  return none;
}

StringMatcher::Match StringMatcher::find(std::string_view text, size_t from) const {
  for (size_t begin = from; begin < text.size(); ++begin) {
    if (onlyFirstByte >= 0) {
      const void *found = std::memchr(text.data() + begin, onlyFirstByte, text.size() - begin);
      if (found == nullptr)
        break;
      begin = static_cast<size_t>(static_cast<const char *>(found) - text.data());
    } else if (!isFirstByte[static_cast<unsigned char>(text[begin])]) {
      continue;
    }
    Match longestMatch = {begin, begin, 0};
    uint32_t node = 0;
    for (size_t end = begin; end < text.size();) {
      node = follow(node, text[end]);
      if (node == none)
        break;
      ++end;
      if (nodes[node].string != none)
        longestMatch = {begin, end, nodes[node].string};
    }
    if (longestMatch.end != begin)
      return longestMatch;
  }
  return {text.size(), text.size(), 0};
}

size_t StringMatcher::reach(std::string_view text, size_t begin) const {
  uint32_t node = 0;
  size_t end = begin;
  while (end < text.size() && (node = follow(node, text[end])) != none)
    ++end;
  return end;
}

} // namespace weft
