//===- ExecutableFile.h - Executables on disk -----------------------------===//
//
// A file holds the parts of one job: one executable for each place along the pipeline (Parts.h).
// The file is: a header of kHeaderBytes (magic, format version, the writer's weft version, where the
// structure is, and checksums), the structure (FlatBuffers, ExecutableFormat.fbs), then the blobs (config,
// tokenizer, object, constants) at 64-byte aligned 64-bit offsets, each with its XXH64. Equal executables
// give equal bytes; no time or path is stored. Whatever is read has passed verify(): a damaged, truncated,
// foreign or hostile file gives an error that names the file, what is wrong and the command that writes it
// again; it costs time and memory linear in its size.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_EXECUTABLE_EXECUTABLEFILE_H
#define WEFT_RUNTIME_EXECUTABLE_EXECUTABLEFILE_H

#include "runtime/executable/Executable.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <string>
#include <string_view>
#include <vector>

namespace weft {

/// Raised when the meaning of the format changes. This build reads versions 1 to kFormatVersion. A file is of
/// the lowest version whose readers see all of it: of 2 if it has several parts, or bases within others; of 3
/// if it has a snapshot; of 4 if it has an object of generated kernels.
inline constexpr uint32_t kFormatVersion = 4;

/// The bytes of a file that holds the parts of a job. Fails as verify() does: what cannot be run is not
/// written either. ResourceExhausted when the structure would pass FlatBuffers' 2^31 - 1 bytes.
absl::StatusOr<std::string> serializeExecutables(const std::vector<Executable> &parts);

/// Writes the file whole or not at all: temporary name beside it, fsync, rename.
absl::Status writeExecutables(const std::vector<Executable> &parts, const std::string &path);

/// The parts of the job in `bytes`, at least one; `file` is how messages call it. Keeps nothing of `bytes`.
/// DataLoss for damaged content, FailedPrecondition for a version that this build does not read,
/// InvalidArgument for what is no executable or breaks a rule of verify().
absl::StatusOr<std::vector<Executable>> parseExecutables(std::string_view bytes, std::string_view file);

absl::StatusOr<std::vector<Executable>> readExecutables(const std::string &path);

} // namespace weft

#endif // WEFT_RUNTIME_EXECUTABLE_EXECUTABLEFILE_H
