//===- NarrowFloats.h - bf16 and f16 as float32, and back -----------------===//
//
// Without vector intrinsics or branches that a compiler could not turn into selects: these loops are bound by
// memory. To the nearest value, ties to even; subnormals and infinities are kept, a NaN stays a NaN.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_KERNELS_COLLECTIVE_NARROWFLOATS_H
#define WEFT_KERNELS_COLLECTIVE_NARROWFLOATS_H

#include <bit>
#include <cstdint>

namespace weft {

inline float floatFromBf16(uint16_t stored) { return std::bit_cast<float>(uint32_t{stored} << 16); }

inline uint16_t bf16FromFloat(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  uint32_t rounded = bits + 0x7FFFu + ((bits >> 16) & 1u);
  return static_cast<uint16_t>((value != value ? bits | 0x00400000u : rounded) >> 16);
}

/// f16 keeps 10 fraction bits of float32's 23, and its exponent is biased by 15, not 127.
inline float floatFromF16(uint16_t stored) {
  constexpr uint32_t kRebias = (127u - 15u) << 23;
  uint32_t magnitude = (uint32_t{stored} & 0x7FFFu) << 13;
  uint32_t normal = magnitude + kRebias;
  // A subnormal is its fraction times 2^-24: read it behind a leading one, which is then taken away.
  uint32_t subnormal =
      std::bit_cast<uint32_t>(std::bit_cast<float>(normal + (1u << 23)) - std::bit_cast<float>(113u << 23));
  uint32_t finite = magnitude < (1u << 23) ? subnormal : normal;
  uint32_t bits = magnitude >= (31u << 23) ? normal + kRebias : finite; // infinity, NaN: the highest exponent
  return std::bit_cast<float>(bits | (uint32_t{stored} & 0x8000u) << 16);
}

inline uint16_t f16FromFloat(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  uint32_t magnitude = bits & 0x7FFFFFFFu;
  uint32_t normal = (magnitude - ((127u - 15u) << 23) + 0xFFFu + ((magnitude >> 13) & 1u)) >> 13;
  // Adding 1/2, whose last fraction bit is worth 2^-24, rounds a magnitude below 2^-14 to multiples of that.
  uint32_t subnormal =
      std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude < (113u << 23) ? magnitude : 0u) + 0.5f) -
      std::bit_cast<uint32_t>(0.5f);
  uint32_t finite = magnitude < (113u << 23) ? subnormal : normal;
  uint32_t large = magnitude > (255u << 23) ? 0x7E00u : 0x7C00u; // NaN, or infinity
  uint32_t rounded =
      magnitude >= (143u << 23) ? large : finite; // 2^16 and above; below it may round up to it
  return static_cast<uint16_t>(rounded | (bits >> 16 & 0x8000u));
}

} // namespace weft

#endif // WEFT_KERNELS_COLLECTIVE_NARROWFLOATS_H
