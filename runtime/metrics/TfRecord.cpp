//===- TfRecord.cpp - The framing of TensorBoard's event files ------------===//
//
// Records are short and rare: a table of 256 entries is fast enough.
//
//===----------------------------------------------------------------------===//
#include "runtime/metrics/TfRecord.h"

#include <array>
#include <cstring>

namespace weft {
namespace {

constexpr uint32_t reflectedPolynomial = 0x82F63B78;

constexpr std::array<uint32_t, 256> crcTable = [] {
  std::array<uint32_t, 256> table{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit)
      crc = crc >> 1 ^ (crc & 1 ? reflectedPolynomial : 0);
    table[byte] = crc;
  }
  return table;
}();

template <typename T> std::string littleEndian(T value) {
  std::string bytes(sizeof(T), '\0');
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

} // namespace

uint32_t crc32c(std::string_view bytes) {
  uint32_t crc = ~uint32_t{0};
  for (unsigned char byte : bytes)
    crc = crc >> 8 ^ crcTable[(crc ^ byte) & 0xFF];
  return ~crc;
}

uint32_t maskedCrc32c(std::string_view bytes) {
  uint32_t crc = crc32c(bytes);
  return (crc >> 15 | crc << 17) + 0xA282EAD8;
}

std::string frameRecord(std::string_view record) {
  std::string length = littleEndian(static_cast<uint64_t>(record.size()));
  std::string framed = length + littleEndian(maskedCrc32c(length));
  framed.append(record);
  return framed + littleEndian(maskedCrc32c(record));
}

} // namespace weft
