//===- ShortPiece.h - Up to 15 bytes in two registers ---------------------===//
//
// Most pre-tokens are words. Their bytes and their length fit into 16 bytes, which are compared and hashed at
// once, without a loop over characters.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TOKENIZER_SHORTPIECE_H
#define WEFT_RUNTIME_TOKENIZER_SHORTPIECE_H

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace weft {

struct ShortPiece {
  static constexpr size_t longest = 15;
  static_assert(std::endian::native == std::endian::little, "the first byte is the lowest");

  uint64_t low = 0;
  uint64_t high = 0; ///< its last byte is the length; 0: nothing

  bool operator==(const ShortPiece &) const = default;

  /// Of the first `length` bytes, 1 to 15, of 16 that may be read.
  static ShortPiece ofReadable(const char *bytes, size_t length) {
    const size_t lowBits = length < 8 ? 8 * length : 64, highBits = length < 8 ? 0 : 8 * (length - 8);
    const uint64_t lowMask = lowBits == 64 ? ~uint64_t{0} : (uint64_t{1} << lowBits) - 1;
    const uint64_t highMask = (uint64_t{1} << highBits) - 1;
    return {load<uint64_t>(bytes) & lowMask, (load<uint64_t>(bytes + 8) & highMask) | uint64_t{length} << 56};
  }
  /// Of 1 to 15 bytes behind which nothing may be read: two loads that overlap.
  static ShortPiece of(std::string_view bytes) {
    const size_t length = bytes.size();
    ShortPiece piece;
    piece.high = uint64_t{length} << 56;
    if (length >= 8) {
      piece.low = load<uint64_t>(bytes.data());
      if (length > 8)
        piece.high |= load<uint64_t>(bytes.data() + length - 8) >> 8 * (16 - length);
    } else if (length >= 4) {
      piece.low = load<uint32_t>(bytes.data()) | uint64_t{load<uint32_t>(bytes.data() + length - 4)}
                                                     << 8 * (length - 4);
    } else {
      for (size_t i = 0; i < length; ++i)
        piece.low |= uint64_t{static_cast<unsigned char>(bytes[i])} << 8 * i;
    }
    return piece;
  }

  uint64_t hash() const {
    uint64_t mixed = (low ^ std::rotl(high, 23)) * 0x9E3779B97F4A7C15ull;
    mixed ^= (high ^ mixed >> 29) * 0xBF58476D1CE4E5B9ull;
    return mixed ^ mixed >> 32;
  }

private:
  template <class Integer> static Integer load(const char *bytes) {
    Integer value;
    std::memcpy(&value, bytes, sizeof(value));
    return value;
  }
};

} // namespace weft

#endif // WEFT_RUNTIME_TOKENIZER_SHORTPIECE_H
