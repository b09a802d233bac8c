//===- Philox.h - Counter-based random numbers ----------------------------===//
//
// Philox 4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC 2011). A
// number is a function of (seed, step, op, sample, index in the sample) and of nothing else, so it is the
// same on every mesh, in every micro batch and when recomputed. Plain constexpr arithmetic: the same bits on
// every device.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_KERNELS_COMMON_PHILOX_H
#define WEFT_KERNELS_COMMON_PHILOX_H

#include <array>
#include <cstdint>

namespace weft {

using PhiloxCounter = std::array<uint32_t, 4>;

/// The 64-bit key of one op in one step: xxh64 with seed 0 of the 24 bytes (seed, step, opId), each
/// little-endian.
constexpr uint64_t philoxKey(uint64_t seed, uint64_t step, uint64_t opId) {
  constexpr uint64_t prime1 = 0x9E3779B185EBCA87u, prime2 = 0xC2B2AE3D27D4EB4Fu, prime3 = 0x165667B19E3779F9u,
                     prime4 = 0x85EBCA77C2B2AE63u, prime5 = 0x27D4EB2F165667C5u;
  auto rotateLeft = [](uint64_t value, int bits) { return (value << bits) | (value >> (64 - bits)); };
  uint64_t hash = prime5 + 24; // inputs under 32 bytes start from the length
  for (uint64_t word : {seed, step, opId}) {
    hash ^= rotateLeft(word * prime2, 31) * prime1;
    hash = rotateLeft(hash, 27) * prime1 + prime4;
  }
  hash = (hash ^ (hash >> 33)) * prime2;
  hash = (hash ^ (hash >> 29)) * prime3;
  return hash ^ (hash >> 32);
}

/// Ten rounds over one counter: four words of 32 random bits. Word 0 of counter and key is the least
/// significant.
constexpr PhiloxCounter philox4x32(PhiloxCounter counter, uint64_t key) {
  uint32_t key0 = static_cast<uint32_t>(key), key1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    uint64_t product0 = uint64_t{0xD2511F53u} * counter[0];
    uint64_t product1 = uint64_t{0xCD9E8D57u} * counter[2];
    counter = {static_cast<uint32_t>(product1 >> 32) ^ counter[1] ^ key0, static_cast<uint32_t>(product1),
               static_cast<uint32_t>(product0 >> 32) ^ counter[3] ^ key1, static_cast<uint32_t>(product0)};
    key0 += 0x9E3779B9u; // golden ratio
    key1 += 0xBB67AE85u; // sqrt(3) - 1
  }
  return counter;
}

/// The words of elements 4 * block to 4 * block + 3 of a sample (linear index in the dimensions after the
/// sample's).
constexpr PhiloxCounter philoxBlock(uint64_t key, uint64_t sample, uint64_t block) {
  return philox4x32({static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32),
                     static_cast<uint32_t>(sample), static_cast<uint32_t>(sample >> 32)},
                    key);
}

/// Uniform in [0, 1) on the grid of 2^-24: exact in float32.
constexpr float uniformFromBits(uint32_t bits) { return static_cast<float>(bits >> 8) * 0x1p-24f; }

} // namespace weft

#endif // WEFT_KERNELS_COMMON_PHILOX_H
