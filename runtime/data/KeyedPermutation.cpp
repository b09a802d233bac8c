//===- KeyedPermutation.cpp - A shuffle that is a function ----------------===//
//
// Eight rounds, alternately mixing the low half into the high one and back, so that the halves may differ by
// a bit. The round function is xxh64 of (half, round) under the key. The result is part of every run: it must
// never change.
//
//===----------------------------------------------------------------------===//
#include "runtime/data/KeyedPermutation.h"

#include <xxhash.h>

#include <bit>

namespace weft {
namespace {

constexpr int rounds = 8;

uint64_t roundBits(uint64_t half, int round, uint64_t key) {
  uint64_t input[2] = {half, static_cast<uint64_t>(round)};
  return XXH64(input, sizeof(input), key);
}

} // namespace

KeyedPermutation::KeyedPermutation(uint64_t key, int64_t size) : key(key), size(static_cast<uint64_t>(size)) {
  int bits = std::bit_width(this->size - 1);
  highBits = bits / 2;
  lowBits = bits - highBits;
}

uint64_t KeyedPermutation::permuteOnce(uint64_t value) const {
  uint64_t lowMask = (uint64_t{1} << lowBits) - 1;
  uint64_t highMask = (uint64_t{1} << highBits) - 1;
  uint64_t low = value & lowMask;
  uint64_t high = value >> lowBits;
  for (int round = 0; round < rounds; round += 2) {
    high ^= roundBits(low, round, key) & highMask;
    low ^= roundBits(high, round + 1, key) & lowMask;
  }
  return high << lowBits | low;
}

int64_t KeyedPermutation::operator()(int64_t index) const {
  uint64_t value = static_cast<uint64_t>(index);
  do
    value = permuteOnce(value);
  while (value >= size);
  return static_cast<int64_t>(value);
}

uint64_t orderKey(uint64_t seed, uint64_t input, uint64_t epoch) {
  uint64_t words[3] = {seed, input, epoch};
  return XXH64(words, sizeof(words), 0);
}

} // namespace weft
