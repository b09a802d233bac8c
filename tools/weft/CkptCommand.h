//===- CkptCommand.h - weft ckpt inspect|verify|diff ----------------------===//
//
// Questions about saved checkpoints: what is in one, is it whole, where do two differ. A path is a checkpoint
// (`.../step-300`), or a run's folder or its `checkpoints` folder, by which the latest whole one is meant
// (`verify`: all of them). Nothing is ever changed.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_CKPTCOMMAND_H
#define WEFT_TOOLS_WEFT_CKPTCOMMAND_H

#include "runtime/support/ExitCode.h"

#include "absl/status/statusor.h"

#include <string>

namespace CLI {
class App;
}

namespace weft {

void addCkptCommand(CLI::App &app);

/// Each prints its answer on standard output, as text or as JSON. A status is an answer that could not be
/// given. Shows a checkpoint's tensors, sizes and run state.
absl::StatusOr<ExitCode> ckptInspect(const std::string &path, bool json);
/// Reads every byte. Checkpoint when something is broken.
absl::StatusOr<ExitCode> ckptVerify(const std::string &path, bool json);
/// Compares tensor by tensor. Checkpoint when a tensor differs; differences of the run state alone are only
/// shown.
absl::StatusOr<ExitCode> ckptDiff(const std::string &first, const std::string &second, bool json);

} // namespace weft

#endif // WEFT_TOOLS_WEFT_CKPTCOMMAND_H
