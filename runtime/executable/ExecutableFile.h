//===- ExecutableFile.h - Executables on disk -----------------------------===//
//
// The file is: a header of kHeaderBytes (magic, format version, the writer's weft version, where the
// structure is, and checksums), the structure (FlatBuffers, ExecutableFormat.fbs), then the blobs (config,
// tokenizer, constants) at 64-byte aligned 64-bit offsets, each with its XXH64. Equal executables give equal
// bytes; no time or path is stored. Whatever is read has passed verify(): a damaged, truncated, foreign or
// hostile file gives an error that names the file, what is wrong and the command that writes it again; it
// costs time and memory linear in its size.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_EXECUTABLE_EXECUTABLEFILE_H
#define WEFT_RUNTIME_EXECUTABLE_EXECUTABLEFILE_H

#include "runtime/executable/Executable.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <string>
#include <string_view>

namespace weft {

/// Raised when the meaning of the format changes. This build reads versions 1 to kFormatVersion.
inline constexpr uint32_t kFormatVersion = 1;

/// The bytes of a file. Fails as verify() does: what cannot be run is not written either. ResourceExhausted
/// when the structure would pass FlatBuffers' 2^31 - 1 bytes.
absl::StatusOr<std::string> serializeExecutable(const Executable &executable);

/// Writes the file whole or not at all: temporary name beside it, fsync, rename.
absl::Status writeExecutable(const Executable &executable, const std::string &path);

/// The executable in `bytes`; `file` is how messages call it. Keeps nothing of `bytes`.
/// DataLoss for damaged content, FailedPrecondition for a version that this build does not read,
/// InvalidArgument for what is no executable or breaks a rule of verify().
absl::StatusOr<Executable> parseExecutable(std::string_view bytes, std::string_view file);

absl::StatusOr<Executable> readExecutable(const std::string &path);

} // namespace weft

#endif // WEFT_RUNTIME_EXECUTABLE_EXECUTABLEFILE_H
