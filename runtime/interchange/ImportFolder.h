//===- ImportFolder.h - A Hugging Face folder becomes a checkpoint --------===//
//
// The checkpoint is one of step 0 that holds the parameters alone, so every reader of checkpoints takes it,
// on any mesh. It is written under a temporary name, stretch by stretch whatever the size of a tensor, and
// gets its own name when the disk holds all of it: it is whole or absent.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_INTERCHANGE_IMPORTFOLDER_H
#define WEFT_RUNTIME_INTERCHANGE_IMPORTFOLDER_H

#include "runtime/interchange/FolderParameters.h"

#include <functional>

namespace weft::interchange {

struct ImportRequest {
  std::string output;         ///< the checkpoint's folder, which does not exist yet
  std::string resolvedConfig; ///< of the run, as checkpoints keep it
  checkpoint::FileSystem *files = &checkpoint::systemFiles();
  std::function<bool()> stopRequested = [] { return false; }; ///< asked after each stretch
};

struct ImportResult {
  size_t tensors = 0;
  int64_t bytes = 0;
  int64_t rounded = 0; ///< elements that have another value now
};

/// CANCELLED (exit code stopped) when asked to stop. Every other error has the exit code of checkpoints; on
/// any, nothing is left.
absl::StatusOr<ImportResult> importFolder(const FolderParameters &source, const ImportRequest &request);

} // namespace weft::interchange

#endif // WEFT_RUNTIME_INTERCHANGE_IMPORTFOLDER_H
