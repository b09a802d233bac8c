//===- OpenRun.h - A trained model, ready to run --------------------------===//
//
// What commands that use a model and do not train it begin with: the program of a run (or an executable with
// a checkpoint beside it) and the weights of a checkpoint. No compiler is needed, and nothing is written, so
// a run may be looked at while it trains.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TRAIN_OPENRUN_H
#define WEFT_RUNTIME_TRAIN_OPENRUN_H

#include "runtime/config/ConfigLoader.h"
#include "runtime/exec/Executor.h"
#include "runtime/tokenizer/Tokenizer.h"

#include <memory>
#include <string>
#include <vector>

namespace weft {

struct OpenedRun {
  LoadedConfig loaded;
  std::unique_ptr<Tokenizer> tokenizer;
  std::unique_ptr<Device> device;
  std::unique_ptr<Executor> executor; ///< its parameters are those of the checkpoint
  std::string checkpoint;             ///< the folder
  int64_t step = 0;                   ///< of the checkpoint
  std::vector<std::string> warnings;  ///< checkpoints that were passed over
};

/// `path` is a run's folder or an executable. `checkpoint` is a checkpoint, or a run's folder, whose latest
/// is taken; empty: the latest of `path`, which then is a run's folder. `overrides` are of keys that no
/// program is compiled from.
absl::StatusOr<OpenedRun> openRun(const std::string &path, const std::string &checkpoint,
                                  const std::vector<std::string> &overrides);

} // namespace weft

#endif // WEFT_RUNTIME_TRAIN_OPENRUN_H
