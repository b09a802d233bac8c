//===- ValueDump.h - The values of a step, by name, in a file -------------===//
//
// Runs a step watched and writes what its commands gave into a safetensors file. A value's name is where its
// command comes from in the model and which kernel gave it; the file's metadata lists the names in program
// order, which is how `weft compare` knows the first difference. Values go straight from the executor's
// memory to their places in the file: nothing is gathered, so of several ranks that run one program one
// writes its own parts. Of a pipeline one of each stage does: the file holds all that one device would have
// computed.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TRAIN_VALUEDUMP_H
#define WEFT_RUNTIME_TRAIN_VALUEDUMP_H

#include "kernels/collective/Collective.h"
#include "runtime/comm/Communicator.h"
#include "runtime/exec/Executor.h"
#include "runtime/train/StepProgram.h"

#include <string>
#include <vector>

namespace weft {

/// The metadata key under which a dump lists its names in program order, one a line.
inline constexpr const char *kDumpOrderKey = "order";
/// The metadata key under which a dump of one of several ranks says so: `rank 0 of d0 = 2, t0 = 2`. Its
/// values are that rank's parts; axes of the pipeline are not among these.
inline constexpr const char *kDumpRankKey = "rank";

/// A value that a step gives.
struct NamedValue {
  /// `model.layers.0.mlp.gate_proj/einsum` (placeOf and the kernel), `/microbatch.1` behind it in an action
  /// that runs per microbatch,
  /// `#2` for the second of the same name, `@1` where pipeline rank 1 computes what another computed first,
  /// or what no layer asked for, `.1` for the second result of one command.
  std::string name;
  TensorType type;
  uint32_t part; ///< of the job, that computes it
  uint32_t command;
  uint32_t run; ///< of the runs of its command in one step, from 0
  uint32_t result;
};

/// Where a command comes from: its place in the model, or, of what no layer asked for, its action's name.
std::string placeOf(const Executable &executable, ProgramHandle program, uint32_t action, uint32_t command);

/// Whether a command's results are there when it is over: those of a receive that has begun come later.
inline bool hasItsResults(const KernelCall &call) { return lineStepOf(call.name) != LineStep::Receive; }

/// All values that a program gives, in program order: of several parts in an order in which they can be
/// computed.
std::vector<NamedValue> namedValues(const std::vector<Executable> &parts, ProgramHandle program);

/// What of a step is written where.
struct DumpRequest {
  const std::vector<NamedValue> &values;    ///< all of the program
  const std::vector<std::string> &patterns; ///< of the names of those that are written, as shells match them
  std::string file;
};

/// Runs the step, and writes what the request says. All ranks call it, and one of each part writes; the file
/// appears whole or not at all. Returns how many values it holds; NotFound when none matches. `also`, unless
/// null, is called with each command too.
absl::StatusOr<int64_t> dumpStep(Executor &executor, StepProgram &step, const DumpRequest &request,
                                 Communicator &communicator, const CommandObserver &also);

} // namespace weft

#endif // WEFT_RUNTIME_TRAIN_VALUEDUMP_H
