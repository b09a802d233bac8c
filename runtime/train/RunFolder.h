//===- RunFolder.h - Where everything of one run lies ---------------------===//
//
// A run is a folder: its config, its compiled program, metrics, log, checkpoints, dumps, trace, curve. This
// file names its parts and nothing else knows their names.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TRAIN_RUNFOLDER_H
#define WEFT_RUNTIME_TRAIN_RUNFOLDER_H

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <cstdint>
#include <string>

namespace weft {

struct RunFolder {
  std::string path;

  std::string config() const { return path + "/config.yaml"; }
  std::string metrics() const { return path + "/metrics.jsonl"; }
  /// log.txt of rank 0, log-1.txt of rank 1, and so on.
  std::string log(int rank = 0) const;
  std::string programFolder() const { return path + "/program"; }
  std::string program() const { return path + "/program/run.weft"; }
  /// The text of model.program, as the run was last started with it.
  std::string model() const { return path + "/program/model.mlir"; }
  /// Where a pass that fails leaves its input.
  std::string reproducer() const { return path + "/program/reproducer.mlir"; }
  std::string checkpoints() const { return path + "/checkpoints"; }
  std::string tensorBoard() const { return path + "/tensorboard"; }
  std::string dumps() const { return path + "/dumps"; }
  std::string dump(int64_t step) const;
  /// Of the step that a profile is of.
  std::string trace() const { return path + "/trace.json"; }
  std::string curve() const { return path + "/loss.svg"; }
};

/// `runs`/`name`, made with the folders in it if need be. The name is one path component.
absl::StatusOr<RunFolder> makeRunFolder(const std::string &runs, const std::string &name);

/// What a run is called when nobody says: the file's name without its suffix.
std::string defaultRunName(const std::string &file);

/// Datasets prepared from text, for all runs in `runs`.
std::string dataCache(const std::string &runs);

/// Makes a folder and those above it.
absl::Status makeFolders(const std::string &path);

} // namespace weft

#endif // WEFT_RUNTIME_TRAIN_RUNFOLDER_H
