//===- StepProgram.h - The program `step`, as the trainer sees it ---------===//
//
// Binds the inputs and outputs of an executable's `step` once, so that a step is: fill, run, read. A program
// written by hand may lack inputs and outputs that weft's own models have; what it has must have the types of
// the run file, and what it asks for must be something that the trainer can give.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TRAIN_STEPPROGRAM_H
#define WEFT_RUNTIME_TRAIN_STEPPROGRAM_H

#include "runtime/config/Config.h"
#include "runtime/exec/Executor.h"
#include "runtime/train/SequencePart.h"
#include "runtime/train/TokenInputs.h"

#include <optional>
#include <utility>
#include <vector>

namespace weft {

/// What a step said about itself.
struct StepResult {
  double loss = 0;
  double gradNorm = 0;
  double learningRate = 0;
  bool skipped = false;
  std::vector<std::pair<std::string, double>> others; ///< further float scalars, by output name
};

class StepProgram {
public:
  /// FailedPrecondition (exit code config) when the program does not fit the config or the trainer.
  static absl::StatusOr<StepProgram> bind(Executor &executor, const Config &config, int64_t rank = 0);

  /// Fills the inputs of step `step` (from 0) of the run; the loader reads the samples of the rank's data
  /// rank.
  absl::Status fill(int64_t step, DataLoader &loader);
  /// Runs the program on what was filled in; takes the times of the run where `times` are given.
  absl::Status run(RunTimes *times = nullptr);
  StepResult result() const;

  ProgramHandle handle() const { return program; }

private:
  explicit StepProgram(Executor &executor) : executor(&executor) {}
  absl::Status bindInputs(const Config &config, int64_t rank);
  absl::Status bindOutputs();

  /// An input that takes a part of each sample, which is first read whole.
  struct PartInput {
    size_t microbatch;
    std::span<const int32_t> samples;
    std::span<int32_t> input;
    SequencePart part;
  };

  Executor *executor;
  ProgramHandle program;
  std::vector<Microbatch> batches;      ///< where each microbatch goes: to inputs, or to what follows
  WholeSamples whole;                   ///< for a program that takes a part of samples, or none
  std::vector<int64_t> unusedSampleIds; ///< for a program without sample ids
  std::vector<PartInput> parts;
  std::span<int64_t> stepNumber; ///< empty when the program does not ask for it
  std::vector<std::pair<std::string, HostTensor>> outputs;
};

/// The number in a scalar of any type.
double scalarOf(const HostTensor &tensor);

} // namespace weft

#endif // WEFT_RUNTIME_TRAIN_STEPPROGRAM_H
