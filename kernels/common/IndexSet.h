//===- IndexSet.h - A set of small numbers that threads change together ---===//
//
// Every operation is one step in the single order of all of them: a thread that changes one set and then
// reads another, and a thread that does the reverse, cannot both miss each other.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_KERNELS_COMMON_INDEXSET_H
#define WEFT_KERNELS_COMMON_INDEXSET_H

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace weft {

/// Of numbers in [0, 128).
class alignas(64) IndexSet {
public:
  static constexpr int kMost = 128;

  void insert(int index) { word(index).fetch_or(bit(index)); }
  /// Whether it was in the set.
  bool erase(int index) {
    return (word(index).load() & bit(index)) != 0 && (word(index).fetch_and(~bit(index)) & bit(index)) != 0;
  }
  /// Takes the lowest out of the set; -1 when the set is empty.
  int takeLowest() {
    for (size_t i = 0; i < words.size(); ++i)
      for (uint64_t seen = words[i].load(); seen != 0; seen = words[i].load())
        if (const int index = static_cast<int>(i) * kBits + std::countr_zero(seen); erase(index))
          return index;
    return -1;
  }
  bool any() const { return words[0].load() != 0 || words[1].load() != 0; }
  int count() const { return std::popcount(words[0].load()) + std::popcount(words[1].load()); }

  /// Calls see(index) for those that are in the set now, from the `first`-th on and then those before it,
  /// until it returns true. Whether it did.
  template <typename See> bool anyFrom(int first, const See &see) const {
    const std::array<uint64_t, 2> seen = {words[0].load(), words[1].load()};
    return visit(seen, [&](int index, int place) { return place >= first && see(index); }) ||
           visit(seen, [&](int index, int place) { return place < first && see(index); });
  }

private:
  static constexpr int kBits = 64;
  static uint64_t bit(int index) { return uint64_t{1} << (index % kBits); }
  std::atomic<uint64_t> &word(int index) { return words[static_cast<size_t>(index / kBits)]; }

  template <typename See> static bool visit(const std::array<uint64_t, 2> &seen, const See &see) {
    int place = 0;
    for (int i = 0; i < 2; ++i)
      for (uint64_t left = seen[static_cast<size_t>(i)]; left != 0; left &= left - 1, ++place)
        if (see(i * kBits + std::countr_zero(left), place))
          return true;
    return false;
  }

  std::array<std::atomic<uint64_t>, 2> words{};
};

} // namespace weft

#endif // WEFT_KERNELS_COMMON_INDEXSET_H
