//===- Trials.h - The trials by name ----------------------------------------===//
//
// Case number i of a run with seed S is the case of seed S + i: its op is the (S + i)-th in order, modulo
// their number (trials of ops), and everything else is drawn from S + i. So `--count 1 --seed S + i` repeats
// it alone, and a run of at least as many cases as there are ops meets every op.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_TRIALS_TRIALS_H
#define WEFT_TOOLS_WEFT_TRIALS_TRIALS_H

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace weft::trials {

struct Options {
  int64_t count = 20;
  uint64_t seed = 1;
  std::optional<double> minutes;
  std::string sabotage;       ///< empty: nothing is broken
  std::string only;           ///< an op; empty: all
  std::string instructionSet; ///< kernels; empty: the highest of this machine
};

struct FaultyRanksOptions {
  std::string file;           ///< an executable
  std::string name;           ///< of the run
  std::string fault = "none"; ///< none, die, freeze
  int rank = 0;               ///< which has it
  int64_t collective = 1;     ///< before which it happens
  bool inSave = false;        ///< counts the collectives of saves alone
};

struct VolatileDiskOptions {
  std::string file;     ///< an executable
  std::string name;     ///< of the run
  std::string sabotage; ///< empty: nothing is broken
};

/// True once `minutes` have passed since it was made.
class Deadline {
public:
  explicit Deadline(std::optional<double> minutes) : minutes(minutes) {}
  bool passed() const {
    std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    return minutes && spent.count() > 60.0 * *minutes;
  }

private:
  std::optional<double> minutes;
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
};

/// Derivatives and sharding rules of every op. The exit status.
int runGradientTrials(const Options &options);
/// CPU kernels, reached through compile and executor, against the exact interpreter. The exit status.
int runKernelTrials(const Options &options);
/// Paths between random placements, on virtual ranks. The exit status.
int runReshardTrials(const Options &options);
/// Attention around a ring of ranks against attention as a whole. The exit status.
int runRingTrials(const Options &options);
/// Small models on random meshes against one device. The exit status.
int runMeshTrials(const Options &options);
/// The order of samples, blends, and documents that do not see each other. The exit status.
int runOrderTrials(const Options &options);
/// Changed schedules, verified and executed. The exit status.
int runScheduleTrials(const Options &options);
/// Trains, on threads, with one rank that dies or freezes; prints how many collectives rank 0 called. The
/// exit status is that of weft train.
int runFaultyRanks(const FaultyRanksOptions &options);
/// Saves on random meshes, loads on others. The exit status.
int runCheckpointTrials(const Options &options);
/// Trains, on threads, with a disk that loses what is not synced when the process is killed. The exit status
/// is that of weft train.
int runVolatileDisk(const VolatileDiskOptions &options);
/// Prints the instruction sets that this machine runs, one a line. The exit status.
int listInstructionSets();

} // namespace weft::trials

#endif // WEFT_TOOLS_WEFT_TRIALS_TRIALS_H
