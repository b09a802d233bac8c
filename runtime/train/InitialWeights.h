//===- InitialWeights.h - What a new run's parameters come from -----------===//
//
// checkpoint.initial_load_path: a checkpoint of weft, a run's folder, or a Hugging Face folder. Each rank
// reads its slices of the parameters, whatever the mesh that saved them; optimizer, counters and data begin
// anew. All that can be refused is refused before a parameter is read.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TRAIN_INITIALWEIGHTS_H
#define WEFT_RUNTIME_TRAIN_INITIALWEIGHTS_H

#include "runtime/checkpoint/Checkpoint.h"
#include "runtime/exec/Executor.h"
#include "runtime/interchange/FolderParameters.h"
#include "runtime/train/RunLog.h"

#include <variant>
#include <vector>

namespace weft {

class InitialWeights {
public:
  /// Opens what the config names, and holds it against the parameters of a job. `tokenizer` is the checksum
  /// of the run's. What a person should know is logged.
  static absl::StatusOr<InitialWeights> open(const Config &config, const std::vector<Executable> &parts,
                                             uint64_t tokenizer, RunLog &log);

  /// The checkpoint or folder, as messages name it.
  std::string path() const;
  /// Fills this rank's parts of the parameters; state stays as it is.
  absl::Status restore(Executor &executor, int64_t rank, ThreadPool &threads) const;

private:
  using Source = std::variant<checkpoint::Checkpoint, interchange::FolderParameters>;
  explicit InitialWeights(Source source) : source(std::move(source)) {}

  Source source;
};

} // namespace weft

#endif // WEFT_RUNTIME_TRAIN_INITIALWEIGHTS_H
