//===- ValueDump.h - The values of a step, by name, in a file -------------===//
//
// Runs a step watched and writes what its commands gave into a safetensors file. A value's name is where its
// command comes from in the model and which kernel gave it; the file's metadata lists the names in program
// order, which is how `weft compare` knows the first difference. Values go straight from the executor's
// memory to their places in the file: nothing is gathered, so of several ranks one writes its own parts.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TRAIN_VALUEDUMP_H
#define WEFT_RUNTIME_TRAIN_VALUEDUMP_H

#include "runtime/exec/Executor.h"
#include "runtime/train/StepProgram.h"

#include <string>
#include <vector>

namespace weft {

/// The metadata key under which a dump lists its names in program order, one a line.
inline constexpr const char *kDumpOrderKey = "order";
/// The metadata key under which a dump of one of several ranks says so: `rank 0 of d0 = 2, t0 = 2`. Its
/// values are that rank's parts.
inline constexpr const char *kDumpRankKey = "rank";

/// A value that a step gives.
struct NamedValue {
  /// `model.layers.0.mlp.gate_proj/einsum` (placeOf and the kernel), `/microbatch.1` behind it in an action
  /// that runs per microbatch,
  /// `#2` for the second of the same name, `.1` for the second result of one command.
  std::string name;
  TensorType type;
  uint32_t command;
  uint32_t run; ///< of the runs of its command in one step, from 0
  uint32_t result;
};

/// Where a command comes from: its place in the model, or, of what no layer asked for, its action's name.
std::string placeOf(const Executable &executable, ProgramHandle program, uint32_t action, uint32_t command);

/// All values that a program gives, in program order.
std::vector<NamedValue> namedValues(const Executable &executable, ProgramHandle program);

/// Runs the step of rank 0, and writes the values whose names match one of the shell patterns. The file
/// appears whole or not at all. Returns how many values it holds; NotFound when none matches. `also`, unless
/// null, is called with each command too.
absl::StatusOr<int64_t> dumpStep(Executor &executor, StepProgram &step,
                                 const std::vector<std::string> &patterns, const std::string &file,
                                 const CommandObserver &also);

} // namespace weft

#endif // WEFT_RUNTIME_TRAIN_VALUEDUMP_H
