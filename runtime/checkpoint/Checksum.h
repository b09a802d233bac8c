//===- Checksum.h - XXH64 of bytes that come in stretches -----------------===//
//
// The checksum of the checkpoint format: XXH64 with seed 0 (https://github.com/Cyan4973/xxHash), written as
// 16 hexadecimal digits. It finds damage, not forgery.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_CHECKPOINT_CHECKSUM_H
#define WEFT_RUNTIME_CHECKPOINT_CHECKSUM_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace weft::checkpoint {

/// Bytes to hash and to transfer in turns: small enough to stay in the second-level cache.
constexpr size_t kChecksumStretch = size_t{1} << 20;

class Checksum {
public:
  Checksum() { XXH64_reset(&state, 0); }
  void update(const void *data, size_t size) { XXH64_update(&state, data, size); }
  uint64_t value() const { return XXH64_digest(&state); }

private:
  XXH64_state_t state;
};

inline uint64_t checksumOf(std::string_view text) { return XXH64(text.data(), text.size(), 0); }

/// 16 lower-case hexadecimal digits.
std::string checksumText(uint64_t value);
/// The value of exactly 16 lower-case hexadecimal digits.
std::optional<uint64_t> checksumFromText(std::string_view text);

} // namespace weft::checkpoint

#endif // WEFT_RUNTIME_CHECKPOINT_CHECKSUM_H
