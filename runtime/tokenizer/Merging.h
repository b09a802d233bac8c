//===- Merging.h - The rule of byte-pair encoding, as it is written -------===//
//
// Of all neighbors that may merge, those of the lowest rank do, the leftmost first, until none may. Few
// symbols are scanned for them; many wait in a queue, beside an array in which each token stands at its first
// and its last symbol, so that neighbors are found without links. Both give the same for every vocabulary.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TOKENIZER_MERGING_H
#define WEFT_RUNTIME_TOKENIZER_MERGING_H

#include "runtime/tokenizer/MergeTable.h"

#include <algorithm>
#include <functional>
#include <span>

namespace weft {

/// What merging many symbols needs besides them; kept for the next time.
struct MergeBuffers {
  std::vector<uint64_t> queue;
  std::vector<bool> isStart;
};

/// The merge that came last.
struct LastMerge {
  int32_t rank = MergeTable::never;
  int32_t left = -1;
  int32_t right = -1;
};

/// `Ranks` says when two ids merge (rankOf, MergeTable::never) and to what (resultOf a rank); `widths` has
/// the symbols that each id is made of. The tokens replace the first of `symbols`; returns how many they are.
template <class Ranks> class Merging {
public:
  static constexpr size_t mostScanned = 64;
  /// Positions and ranks share a word of the queue.
  static constexpr int rankBits = 24;

  Merging(const Ranks &ranks, const std::vector<int32_t> &widths, MergeBuffers &buffers)
      : ranks(ranks), widths(widths), buffers(buffers) {}

  size_t merge(std::span<int32_t> symbols) {
    if (symbols.size() > mostScanned)
      return mergeByQueue(symbols);
    int32_t pairRanks[mostScanned];
    for (size_t i = 0; i + 1 < symbols.size(); ++i)
      pairRanks[i] = ranks.rankOf(symbols[i], symbols[i + 1]);
    return mergeByScanning(symbols, pairRanks);
  }

  /// pairRanks[i]: of symbols i and i + 1.
  size_t mergeByScanning(std::span<int32_t> symbols, int32_t *pairRanks) {
    size_t count = symbols.size();
    while (count > 1) {
      const size_t at = static_cast<size_t>(std::min_element(pairRanks, pairRanks + count - 1) - pairRanks);
      const int32_t rank = pairRanks[at];
      if (rank == MergeTable::never)
        break;
      lastMerge = {rank, symbols[at], symbols[at + 1]};
      symbols[at] = ranks.resultOf(rank);
      std::copy(symbols.begin() + static_cast<std::ptrdiff_t>(at) + 2,
                symbols.begin() + static_cast<std::ptrdiff_t>(count),
                symbols.begin() + static_cast<std::ptrdiff_t>(at) + 1);
      std::copy(pairRanks + at + 1, pairRanks + count - 1, pairRanks + at);
      --count;
      if (at > 0)
        pairRanks[at - 1] = ranks.rankOf(symbols[at - 1], symbols[at]);
      if (at + 1 < count)
        pairRanks[at] = ranks.rankOf(symbols[at], symbols[at + 1]);
    }
    return count;
  }

  const LastMerge &last() const { return lastMerge; }

private:
  size_t widthOf(int32_t id) const { return static_cast<size_t>(widths[static_cast<size_t>(id)]); }

  void enqueue(std::span<const int32_t> symbols, size_t left, size_t right) {
    const int32_t rank = ranks.rankOf(symbols[left], symbols[right]);
    if (rank == MergeTable::never)
      return;
    buffers.queue.push_back(static_cast<uint64_t>(rank) << (64 - rankBits) | left);
    std::push_heap(buffers.queue.begin(), buffers.queue.end(), std::greater<>());
  }

  size_t mergeByQueue(std::span<int32_t> symbols) {
    std::vector<uint64_t> &queue = buffers.queue;
    std::vector<bool> &isStart = buffers.isStart;
    const size_t count = symbols.size();
    queue.clear();
    isStart.assign(count, true);
    for (size_t i = 0; i + 1 < count; ++i) {
      const int32_t rank = ranks.rankOf(symbols[i], symbols[i + 1]);
      if (rank != MergeTable::never)
        queue.push_back(static_cast<uint64_t>(rank) << (64 - rankBits) | i);
    }
    std::make_heap(queue.begin(), queue.end(), std::greater<>());
    while (!queue.empty()) {
      std::pop_heap(queue.begin(), queue.end(), std::greater<>());
      const uint64_t entry = queue.back();
      queue.pop_back();
      const size_t left = entry & ((uint64_t{1} << (64 - rankBits)) - 1);
      const auto rank = static_cast<int32_t>(entry >> (64 - rankBits));
      if (!isStart[left])
        continue;
      const size_t right = left + widthOf(symbols[left]);
      // Since it was entered, what stands there may have merged with others.
      if (right >= count || ranks.rankOf(symbols[left], symbols[right]) != rank)
        continue;
      lastMerge = {rank, symbols[left], symbols[right]};
      const size_t end = right + widthOf(symbols[right]);
      const int32_t result = ranks.resultOf(rank);
      isStart[right] = false;
      symbols[left] = symbols[end - 1] = result;
      if (end < count)
        enqueue(symbols, left, end);
      if (left > 0)
        enqueue(symbols, left - widthOf(symbols[left - 1]), left);
    }
    size_t tokens = 0;
    for (size_t i = 0; i < count;) {
      const int32_t id = symbols[i];
      symbols[tokens++] = id;
      i += widthOf(id);
    }
    return tokens;
  }

  const Ranks &ranks;
  const std::vector<int32_t> &widths;
  MergeBuffers &buffers;
  LastMerge lastMerge;
};

} // namespace weft

#endif // WEFT_RUNTIME_TOKENIZER_MERGING_H
