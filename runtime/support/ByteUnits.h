//===- ByteUnits.h - "8 GiB" ----------------------------------------------===//
//
// Sizes of memory as people write them. Reading and writing are exact: what is written reads back as the same
// number.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_SUPPORT_BYTEUNITS_H
#define WEFT_RUNTIME_SUPPORT_BYTEUNITS_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weft {

/// Bytes from "8 GiB", "1.5GB", "512 MiB" or "4096" (bytes). KiB, MiB, GiB, TiB are powers of 1024, KB, MB,
/// GB, TB powers of 1000. None when the text is something else, negative, or over 2^63 - 1.
std::optional<int64_t> bytesFromText(std::string_view text);

/// The shortest exact spelling: the largest unit of 1024 that divides, else plain bytes ("8 GiB", "1536 MiB",
/// "1000 B").
std::string textFromBytes(int64_t bytes);

} // namespace weft

#endif // WEFT_RUNTIME_SUPPORT_BYTEUNITS_H
