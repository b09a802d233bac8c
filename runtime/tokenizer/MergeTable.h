//===- MergeTable.h - Which neighbors merge, and when ---------------------===//
//
// Two ids to the rank of their merge. The ranks are dense, so that what a merge results in is an array.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TOKENIZER_MERGETABLE_H
#define WEFT_RUNTIME_TOKENIZER_MERGETABLE_H

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace weft {

class MergeTable {
public:
  /// Higher than every rank: these two do not merge.
  static constexpr int32_t never = std::numeric_limits<int32_t>::max();

  /// Room for `count` merges.
  explicit MergeTable(size_t count) : slots(std::bit_ceil(2 * count + 2)), mask(slots.size() - 1) {
    results.reserve(count);
  }

  /// Gives the pair the next rank, which comes back; a pair that has one already keeps it.
  int32_t append(int32_t left, int32_t right, int32_t result) {
    const uint64_t key = keyOf(left, right);
    size_t index = hash(key) & mask;
    for (; slots[index].rank != never; index = (index + 1) & mask)
      if (slots[index].key == key)
        return slots[index].rank;
    const auto rank = static_cast<int32_t>(results.size());
    slots[index] = {key, rank};
    results.push_back(result);
    return rank;
  }

  int32_t rankOf(int32_t left, int32_t right) const {
    const uint64_t key = keyOf(left, right);
    for (size_t index = hash(key) & mask; slots[index].rank != never; index = (index + 1) & mask)
      if (slots[index].key == key)
        return slots[index].rank;
    return never;
  }
  int32_t resultOf(int32_t rank) const { return results[static_cast<size_t>(rank)]; }

private:
  struct Slot {
    uint64_t key = 0;
    int32_t rank = never;
  };
  static uint64_t keyOf(int32_t left, int32_t right) {
    return uint64_t{static_cast<uint32_t>(left)} << 32 | static_cast<uint32_t>(right);
  }
  static uint64_t hash(uint64_t key) {
    key *= 0x9E3779B97F4A7C15ull;
    return key ^ key >> 32;
  }

  std::vector<Slot> slots;
  size_t mask;
  std::vector<int32_t> results;
};

} // namespace weft

#endif // WEFT_RUNTIME_TOKENIZER_MERGETABLE_H
