//===- NpyFile.h - One tensor in a file that NumPy reads ------------------===//
//
// The .npy format, versions 1 to 3 (numpy.lib.format): a magic, a Python dictionary as text, then the
// elements. Read whole and checked before use: what is returned has exactly the bytes of its type. Types:
// bool, int32, int64, float16, float32, float64, and bfloat16 as ml_dtypes stores it (two raw bytes, V2).
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_SUPPORT_NPYFILE_H
#define WEFT_RUNTIME_SUPPORT_NPYFILE_H

#include "kernels/common/Types.h"

#include "absl/status/statusor.h"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace weft {

/// Row-major and little-endian, whatever order the file had its dimensions in.
struct NpyArray {
  TensorType type;
  std::vector<std::byte> bytes;
};

/// The array in the bytes of a file; `file` names it in messages.
absl::StatusOr<NpyArray> parseNpy(std::string_view content, const std::string &file);
absl::StatusOr<NpyArray> readNpy(const std::string &path);

/// The file's bytes, version 1 with the elements aligned to 64 bytes. Fails when `bytes` are not those of the
/// type.
absl::StatusOr<std::string> formatNpy(const TensorType &type, std::span<const std::byte> bytes);
absl::Status writeNpy(const std::string &path, const TensorType &type, std::span<const std::byte> bytes);

} // namespace weft

#endif // WEFT_RUNTIME_SUPPORT_NPYFILE_H
