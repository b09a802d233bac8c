//===- Checksum.cpp - The spelling of checksums ---------------------------===//
//
// One spelling per value, so that equal manifests have equal bytes.
//
//===----------------------------------------------------------------------===//
#include "runtime/checkpoint/Checksum.h"

namespace weft::checkpoint {
namespace {
constexpr std::string_view kDigits = "0123456789abcdef";
} // namespace

std::string checksumText(uint64_t value) {
  std::string text(16, '0');
  for (size_t at = text.size(); at-- > 0; value >>= 4)
    text[at] = kDigits[value & 15];
  return text;
}

std::optional<uint64_t> checksumFromText(std::string_view text) {
  if (text.size() != 16)
    return std::nullopt;
  uint64_t value = 0;
  for (char digit : text) {
    const bool isNumber = digit >= '0' && digit <= '9';
    if (!isNumber && (digit < 'a' || digit > 'f'))
      return std::nullopt;
    value = value << 4 | static_cast<uint64_t>(isNumber ? digit - '0' : digit - 'a' + 10);
  }
  return value;
}

} // namespace weft::checkpoint
