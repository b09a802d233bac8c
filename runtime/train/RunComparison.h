//===- RunComparison.h - The first place where two runs differ ------------===//
//
// Two runs that should be one are compared from coarse to fine: the losses of their steps, then the values
// that they dumped (train.dump), in program order, so that the first difference is where it began. A dump may
// also be a safetensors file of another framework that uses the same names. Equal means equal bits, or, with
// a tolerance, a relative error of the whole tensor within it.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TRAIN_RUNCOMPARISON_H
#define WEFT_RUNTIME_TRAIN_RUNCOMPARISON_H

#include "absl/status/statusor.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weft {

struct LossComparison {
  int64_t steps = 0;                     ///< in both
  std::optional<int64_t> firstDifferent; ///< step
  double first = 0, second = 0;          ///< the losses there
  double maxDifference = 0;              ///< over all steps in both
};

/// One value that differs.
struct ValueDifference {
  std::string name;
  std::string what; ///< how, for people
};

struct DumpComparison {
  std::string first, second; ///< the files
  int64_t compared = 0;      ///< values in both
  int64_t different = 0;
  std::optional<ValueDifference> firstDifferent; ///< in program order
  int64_t onlyInFirst = 0, onlyInSecond = 0;
};

struct RunComparison {
  std::optional<LossComparison> losses; ///< where both have metrics
  std::vector<DumpComparison> dumps;    ///< of the steps that both dumped, ascending
  bool equal() const;
  /// Lines for people.
  std::string text() const;
};

/// Each of the two is a run's folder or a safetensors file. Of a run that is compared with a file, the dump
/// of `step` is taken; absent: its only one. `tolerance` 0: bits.
absl::StatusOr<RunComparison> compareRuns(const std::string &first, const std::string &second,
                                          std::optional<int64_t> step, double tolerance);

/// Compares two safetensors files. FailedPrecondition when they have no name in common.
absl::StatusOr<DumpComparison> compareDumps(const std::string &first, const std::string &second,
                                            double tolerance);

} // namespace weft

#endif // WEFT_RUNTIME_TRAIN_RUNCOMPARISON_H
