//===- ResumeComparison.h - What changed since the checkpoint -------------===//
//
// Compares the config of a checkpoint with that of the run that resumes from it, key by key over the schema,
// which says what may change. Keys that count in neither run are not compared.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_CONFIG_RESUMECOMPARISON_H
#define WEFT_RUNTIME_CONFIG_RESUMECOMPARISON_H

#include "runtime/config/Config.h"

#include "absl/status/status.h"

#include <string>
#include <vector>

namespace weft {

struct ResumeDifference {
  /// "train.seed", "data.train[0].weight".
  std::string path;
  /// As written in YAML; "not used" where the key does not count in that run.
  std::string saved;
  std::string current;
  bool allowed;
  /// What the change does, or why it is refused; may be empty.
  std::string effect;

  /// One line, with the remedy for a refused one: "resume: train.seed is 2 in this run and 1 in checkpoint
  /// step-300: the data order would change. Use --set train.seed=1, or start a new run."
  std::string message(const std::string &checkpoint) const;
};

/// All differences, in the order of the schema.
std::vector<ResumeDifference> compareForResume(const Config &saved, const Config &current);

/// FAILED_PRECONDITION with a line for each refused difference and the exit code Config; OK when all are
/// allowed.
absl::Status refusalOf(const std::vector<ResumeDifference> &differences, const std::string &checkpoint);

} // namespace weft

#endif // WEFT_RUNTIME_CONFIG_RESUMECOMPARISON_H
