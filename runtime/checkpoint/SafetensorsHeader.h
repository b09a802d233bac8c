//===- SafetensorsHeader.h - The table of contents of a safetensors file --===//
//
// A safetensors file is 8 bytes N (little-endian), N bytes of JSON (name -> dtype, shape, byte range), then
// the tensors' bytes. This file reads and writes the first two parts. What parses is safe to use: each range
// has the size of its type and shape, the ranges cover the data exactly, no name comes twice, and no product
// overflows. Format: https://github.com/huggingface/safetensors (README, "Format").
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_CHECKPOINT_SAFETENSORSHEADER_H
#define WEFT_RUNTIME_CHECKPOINT_SAFETENSORSHEADER_H

#include "kernels/common/Types.h"

#include "absl/status/statusor.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft::checkpoint {

/// The element types that weft reads. I8 and U8 occur in foreign files only.
enum class SafetensorsType : uint8_t { F64, F32, F16, BF16, I64, I32, I8, U8, Bool };

/// As the format spells it: F64 F32 F16 BF16 I64 I32 I8 U8 BOOL.
std::string_view name(SafetensorsType type);
int64_t byteSize(SafetensorsType type);
std::optional<SafetensorsType> safetensorsTypeFromName(std::string_view name);
SafetensorsType toSafetensors(DType type);
/// Empty for I8 and U8, which no kernel has.
std::optional<DType> toDType(SafetensorsType type);

/// The bytes of a tensor; empty when a size is negative or the product exceeds 63 bits.
std::optional<int64_t> tensorBytes(const std::vector<int64_t> &shape, int64_t elementBytes);

struct SafetensorsEntry {
  std::string name;
  SafetensorsType type = SafetensorsType::F32;
  std::vector<int64_t> shape;
  int64_t begin = 0; ///< Byte range [begin, end) of the data, counted from the start of the file.
  int64_t end = 0;
};

struct SafetensorsHeader {
  std::vector<SafetensorsEntry> entries; ///< In the order of their bytes.
  std::map<std::string, std::string> metadata;
  int64_t dataStart = 0; ///< Where the first tensor begins in the file; a multiple of 8 in files we write.
  int64_t dataEnd = 0;   ///< The size of the file.
};

/// Bytes of the length field, and the most that a header may have (the limit of the reference
/// implementation).
constexpr int64_t kSafetensorsLengthBytes = 8;
constexpr int64_t kMostSafetensorsHeaderBytes = 100'000'000;

/// The header's length from the first 8 bytes of a file of `fileBytes` bytes. `file` names it in messages.
absl::StatusOr<int64_t> parseSafetensorsLength(std::string_view start, int64_t fileBytes,
                                               const std::string &file);

/// The header from its JSON. `fileBytes` is the size of the whole file.
absl::StatusOr<SafetensorsHeader> parseSafetensorsHeader(std::string_view json, int64_t fileBytes,
                                                         const std::string &file);

/// Sorts by (element size descending, name), so that each tensor is aligned to its elements without holes
/// (which the format forbids), and sets every byte range. Equal tensors give equal bytes. Fails on a name
/// that comes twice, that the format reserves or that is not UTF-8, and on a shape that overflows.
absl::StatusOr<SafetensorsHeader> layOutSafetensors(std::vector<SafetensorsEntry> entries,
                                                    std::map<std::string, std::string> metadata,
                                                    const std::string &file);

/// The length field and the JSON of a header that `layOutSafetensors` made: the file's first `dataStart`
/// bytes.
std::string formatSafetensorsHeader(const SafetensorsHeader &header);

} // namespace weft::checkpoint

#endif // WEFT_RUNTIME_CHECKPOINT_SAFETENSORSHEADER_H
