//===- TfRecord.h - The framing of TensorBoard's event files --------------===//
//
// A record is its length (u64, little endian), the masked CRC-32C of those 8 bytes (u32), its bytes, and
// their masked CRC-32C. The format is TensorFlow's TFRecord; the checksum is that of RFC 3720 (iSCSI).
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_METRICS_TFRECORD_H
#define WEFT_RUNTIME_METRICS_TFRECORD_H

#include <cstdint>
#include <string>
#include <string_view>

namespace weft {

/// CRC-32C (Castagnoli), reflected, initial value and final exclusive-or all ones.
uint32_t crc32c(std::string_view bytes);

/// Rotated and offset, so that a checksum over data that holds checksums stays strong.
uint32_t maskedCrc32c(std::string_view bytes);

/// `record` with its frame around it.
std::string frameRecord(std::string_view record);

} // namespace weft

#endif // WEFT_RUNTIME_METRICS_TFRECORD_H
