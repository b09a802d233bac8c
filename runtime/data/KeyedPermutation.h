//===- KeyedPermutation.h - A shuffle that is a function ------------------===//
//
// The i-th element of a shuffle of [0, n), computed on the fly for any n up to 2^62 and any 64-bit key:
// nothing is stored, so any position of the data order costs the same, and each rank computes only its own. A
// Feistel network over the smallest power of two that holds n permutes; results outside of [0, n) are
// permuted again until they fall inside (cycle walking; Black and Rogaway, "Ciphers with arbitrary finite
// domains", 2002). Less than two walks on average.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_DATA_KEYEDPERMUTATION_H
#define WEFT_RUNTIME_DATA_KEYEDPERMUTATION_H

#include <cstdint>

namespace weft {

class KeyedPermutation {
public:
  /// `size` is at least 1.
  KeyedPermutation(uint64_t key, int64_t size);

  /// Where element `index` of [0, size) goes: a bijection of [0, size).
  int64_t operator()(int64_t index) const;

private:
  uint64_t permuteOnce(uint64_t value) const;

  uint64_t key;
  uint64_t size;
  int highBits;
  int lowBits;
};

/// The key of the order in which input `input` of a run is visited in its pass `epoch`.
uint64_t orderKey(uint64_t seed, uint64_t input, uint64_t epoch);

} // namespace weft

#endif // WEFT_RUNTIME_DATA_KEYEDPERMUTATION_H
