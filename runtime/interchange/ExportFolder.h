//===- ExportFolder.h - A checkpoint becomes a Hugging Face folder --------===//
//
// The parameters of a checkpoint, whatever the mesh that saved it, as save_pretrained() would leave them: the
// names and shapes of transformers, config.json, an index where the weights are in several files, the
// tokenizer. One tensor
// at a time is in memory. The folder is whole or absent; equal checkpoints give equal bytes.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_INTERCHANGE_EXPORTFOLDER_H
#define WEFT_RUNTIME_INTERCHANGE_EXPORTFOLDER_H

#include "runtime/checkpoint/Checkpoint.h"
#include "runtime/config/Config.h"

#include <functional>
#include <optional>

namespace weft::interchange {

struct ExportRequest {
  std::string output;                    ///< the folder, which does not exist yet
  Config config;                         ///< of the run that saved the checkpoint
  std::optional<DType> dtype;            ///< of the weights; absent: the checkpoint's
  int64_t shardBytes = 5'000'000'000;    ///< a file that holds more than one tensor has at most so many
  std::optional<int64_t> vocabularySize; ///< rows of embedding and head; absent: all
  std::optional<int64_t> endOfText;      ///< the token that ends a text, where one is known
  std::vector<std::string> copied;       ///< files that go along: tokenizerFiles()
  checkpoint::FileSystem *files = &checkpoint::systemFiles();
  std::function<bool()> stopRequested = [] { return false; }; ///< asked after each stretch
};

struct ExportResult {
  size_t tensors = 0, files = 0; ///< files of weights
  int64_t bytes = 0;
  int64_t rounded = 0; ///< elements that have another value now
};

/// CANCELLED (exit code stopped) when asked to stop; exit code config for a request that cannot be; every
/// other error has the exit code of checkpoints. On any, nothing is left.
absl::StatusOr<ExportResult> exportFolder(const checkpoint::Checkpoint &checkpoint,
                                          const ExportRequest &request);

/// A tokenizer's file and those of the files beside it that transformers reads with it:
/// tokenizer_config.json, generation_config.json and the like.
std::vector<std::string> tokenizerFiles(const std::string &file,
                                        checkpoint::FileSystem &files = checkpoint::systemFiles());

} // namespace weft::interchange

#endif // WEFT_RUNTIME_INTERCHANGE_EXPORTFOLDER_H
