//===- CheckpointSaver.h - One checkpoint from all ranks, in the background -===//
//
// Rank 0 begins a save; every rank writes a file of the parts that it owns; when all files are on the disk,
// rank 0 writes the manifest that names them and gives the folder its name. So whenever a rank or the machine
// stops, the checkpoint is whole or absent, as on one rank; and a rank that cannot write its part stops all
// of them with its own message.
//
// What touches the disk is done by a thread of each rank's own, while the rank trains. What ranks must agree
// on, they agree on where they meet anyway: between steps, on the training thread. So a save waits for no
// rank, no rank for a save, and a rank that is lost is found where it is missed, by the step. At most one
// save is at work.
//
// The copy that is saved is made by that thread too, while the next step computes: only what writes the
// variables waits for it.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TRAIN_CHECKPOINTSAVER_H
#define WEFT_RUNTIME_TRAIN_CHECKPOINTSAVER_H

#include "runtime/checkpoint/CheckpointWriter.h"
#include "runtime/comm/Communicator.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <string>
#include <vector>

namespace weft {

/// A save that has become whole.
struct SaveReport {
  int64_t step = 0;
  double seconds = 0; ///< from its beginning until it was whole, on the rank where that took longest
  double waited = 0; ///< those that training was in the saver, copy included, on the rank that waited longest
};

/// Of one rank; all ranks call the same functions in the same order. Every error has the exit code of
/// checkpoints, or says which rank is lost, and is the same on all ranks.
class CheckpointSaver {
public:
  using Clock = std::chrono::steady_clock;
  struct Options {
    std::string checkpoints; ///< the folder
    checkpoint::SaveOptions save;
    /// What must be on the disk before the checkpoint is; on rank 0, by the thread that saves.
    std::function<absl::Status()> before = [] { return absl::OkStatus(); };
    /// Told on the training thread.
    std::function<void(const SaveReport &)> saved = [](const SaveReport &) {};
  };

  CheckpointSaver(Communicator &communicator, Options options);
  /// A save that is at work becomes whole first on one rank. On several it is given up: who destroys it
  /// before finish() has failed, and the others are not asked any more.
  ~CheckpointSaver();

  /// Begins to save what all ranks own as step-N, N = state.step; `state` is that of rank 0. First its thread
  /// runs `copy`, where there is one, which fills the memory of `owned`; that stays as it is until the save
  /// is over. No save is at work. Training waits since then.
  absl::Status begin(checkpoint::CheckpointState state, std::vector<checkpoint::TensorView> owned,
                     std::function<void()> copy = nullptr, Clock::time_point since = Clock::now());
  /// Returns when what is copied from may change.
  void awaitCopy();
  /// Whether this rank's thread is still at work.
  bool isBusy() const;
  /// Ranks have met, and none of them is busy: the save goes on, or is over.
  absl::Status advance();
  /// Returns when no save is at work. Waits for this rank's thread, and in collectives for the others.
  absl::Status finish();

private:
  enum class Stage { None, Writing, Committing };

  bool leads() const { return communicator.rank() == 0; }
  absl::Status agree(const absl::Status &mine);
  void start(Stage next, std::function<absl::Status()> task);
  std::function<absl::Status()> afterCopy(std::function<absl::Status()> task);
  absl::Status beginShared();
  absl::Status goOn();
  absl::Status tell();
  absl::Status endWriting(const absl::Status &mine);
  absl::Status saveAlone();
  absl::Status writeOwned();
  absl::Status commit(const std::vector<std::string> &written);

  Communicator &communicator;
  Options options;
  int64_t bytesOfAll = -1; ///< what all ranks own; not known before the first save

  // Of the save at work. Its thread reads these, and writes `record`, until `work` is ready.
  Stage stage = Stage::None;
  checkpoint::CheckpointState state;
  std::vector<checkpoint::TensorView> owned;
  std::string record; ///< what this rank wrote, as text; empty where it owns nothing and so has no file
  std::atomic<bool> isGivenUp{false};
  std::function<void()> copy;
  std::future<void> copying; ///< valid until training has waited for it
  SaveReport report;
  Clock::time_point begun;
  std::future<absl::Status> work; ///< last: its thread ends before what it uses goes
};

} // namespace weft

#endif // WEFT_RUNTIME_TRAIN_CHECKPOINTSAVER_H
