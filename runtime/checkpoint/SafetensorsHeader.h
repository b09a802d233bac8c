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

/// The element types of the format, all of them. Those without a DType occur in foreign files only.
enum class SafetensorsType : uint8_t {
  F64,
  F32,
  F16,
  BF16,
  I64,
  I32,
  Bool,
  I16,
  I8,
  U64,
  U32,
  U16,
  U8,
  C64,
  F8E5M2,
  F8E4M3,
  F8E8M0,
  F8E5M2FNUZ,
  F8E4M3FNUZ,
  F6E3M2,
  F6E2M3,
  F4
};

/// As the format spells it: F64, BOOL, F8_E4M3.
std::string_view name(SafetensorsType type);
/// Of one element. Elements of fewer than 8 bits lie side by side.
int64_t bitSize(SafetensorsType type);
std::optional<SafetensorsType> safetensorsTypeFromName(std::string_view name);
SafetensorsType toSafetensors(DType type);
/// Empty for types that no kernel has.
std::optional<DType> toDType(SafetensorsType type);

/// The bytes of a tensor; empty when a size is negative or the product exceeds 63 bits.
std::optional<int64_t> tensorBytes(const std::vector<int64_t> &shape, int64_t elementBytes);
/// The same, and empty too when the bits do not fill whole bytes.
std::optional<int64_t> tensorBytes(const std::vector<int64_t> &shape, SafetensorsType type);

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
