//===- StepProgram.cpp - The program `step`, as the trainer sees it -------===//
//
// All look-ups and checks are in bind(); fill() and result() touch bound memory only.
//
//===----------------------------------------------------------------------===//
#include "runtime/train/StepProgram.h"

#include "runtime/support/ExitCode.h"
#include "runtime/train/DataRank.h"

#include "absl/strings/str_cat.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace weft {
namespace {

absl::Status misfit(const std::string &message) {
  return withExitCode(absl::FailedPreconditionError(message), ExitCode::Config);
}

template <typename T> double read(const HostTensor &tensor) { return static_cast<double>(tensor.as<T>()[0]); }

} // namespace

double scalarOf(const HostTensor &tensor) {
  switch (tensor.type->dtype) {
  case DType::I1:
    return read<uint8_t>(tensor);
  case DType::I32:
    return read<int32_t>(tensor);
  case DType::I64:
    return read<int64_t>(tensor);
  case DType::BF16: {
    uint32_t bits = static_cast<uint32_t>(tensor.as<uint16_t>()[0]) << 16;
    float value;
    std::memcpy(&value, &bits, sizeof(value));
    return value;
  }
  case DType::F16:
    return read<_Float16>(tensor);
  case DType::F32:
    return read<float>(tensor);
  case DType::F64:
    return read<double>(tensor);
  }
  return 0;
}

absl::StatusOr<StepProgram> StepProgram::bind(Executor &executor, const Config &config, int64_t rank) {
  StepProgram step(executor);
  absl::StatusOr<ProgramHandle> handle = executor.program("step");
  if (!handle.ok())
    return misfit(absl::StrCat(handle.status().message(), ". Training needs 'step'."));
  step.program = *handle;
  if (absl::Status status = step.bindInputs(config, rank); !status.ok())
    return status;
  if (absl::Status status = step.bindOutputs(); !status.ok())
    return status;
  return step;
}

absl::Status StepProgram::bindInputs(const Config &config, int64_t rank) {
  const Executable &executable = executor->executable();
  const Program &source = executable.programs[program.index];
  const int64_t b = config.train.microBatch, t = config.data.sequenceLength;
  if (source.microbatches != config.microBatches())
    return misfit(absl::StrCat("program 'step' has ", source.microbatches,
                               " microbatches, the run file has train.global_batch / (train.micro_batch x ",
                               config.parallel.dataRanks(), " data ranks) = ", config.microBatches()));
  for (std::vector<int32_t> &samples : whole)
    samples.resize(b * t);
  unusedSampleIds.resize(b);
  batches.assign(source.microbatches,
                 {.tokens = whole[0], .targets = whole[1], .sampleIds = unusedSampleIds});
  bool hasSegments = false;
  for (const ProgramInput &input : source.inputs) {
    if (input.name == "step") {
      if (input.type != TensorType{DType::I64, {}} || input.perMicrobatch)
        return misfit(absl::StrCat("program 'step': input 'step' is ", input.type.str(),
                                   input.perMicrobatch ? " per microbatch" : " once",
                                   ", the trainer gives tensor<i64> once"));
      stepNumber = executor->input(program, input.name)->as<int64_t>();
      continue;
    }
    const bool isIds = input.name == "sample_ids";
    const size_t number = tokenInputNamed(input.name);
    if (!isIds && number == kTokenInputs.size())
      return misfit(
          absl::StrCat("program 'step' asks for the input '", input.name,
                       "'; the trainer gives tokens, targets, segments, positions, sample_ids and step"));
    hasSegments |= input.name == "segments";
    const TensorType expected = isIds ? TensorType{DType::I64, {b}} : TensorType{DType::I32, {b, t}};
    absl::StatusOr<SequencePart> part = bindBatchInput(executable, source, input, rank, expected, true);
    if (!part.ok())
      return part.status();
    for (uint32_t m = 0; m < source.microbatches; ++m) {
      absl::StatusOr<HostTensor> slot = executor->input(program, input.name, m);
      if (!slot.ok())
        return slot.status();
      if (isIds)
        batches[m].sampleIds = slot->as<int64_t>();
      else
        batches[m].*kTokenInputs[number].ofMicrobatch =
            part->isWhole() ? slot->as<int32_t>() : std::span(whole[number]);
      if (!isIds && !part->isWhole())
        parts.push_back({m, whole[number], slot->as<int32_t>(), *part});
    }
  }
  // Of a pipeline another stage may have the attentions.
  const bool sharesSamples =
      config.data.packing == Packing::Documents || config.data.packing == Packing::BestFit;
  if (sharesSamples && !hasSegments && executable.mesh.pipelineRanks() == 1)
    return misfit("program 'step' has no input 'segments', and several documents share a sample "
                  "(data.packing): nothing keeps them apart. Give its attentions `segments`, or use "
                  "data.packing: pad or split.");
  return absl::OkStatus();
}

absl::Status StepProgram::bindOutputs() {
  const Program &source = executor->executable().programs[program.index];
  bool hasLoss = false;
  for (const ProgramOutput &output : source.outputs) {
    if (!output.type.shape.empty())
      continue;
    hasLoss |= output.name == "loss" && isFloat(output.type.dtype);
    absl::StatusOr<HostTensor> tensor = executor->output(program, output.name);
    if (!tensor.ok())
      return tensor.status();
    outputs.emplace_back(output.name, *tensor);
  }
  if (!hasLoss)
    return misfit("program 'step' has no output 'loss' that is a float scalar: add it to the values that "
                  "its update region yields");
  return absl::OkStatus();
}

absl::Status StepProgram::fill(int64_t step, DataLoader &loader) {
  for (size_t m = 0; m < batches.size(); ++m) {
    if (absl::Status status = loader.read(step, static_cast<int64_t>(m), batches[m]); !status.ok())
      return withExitCode(status, ExitCode::Data);
    for (const PartInput &input : parts)
      if (input.microbatch == m)
        input.part.copy(input.samples, input.input);
  }
  if (!stepNumber.empty())
    stepNumber[0] = step + 1;
  return absl::OkStatus();
}

absl::Status StepProgram::run(RunTimes *times) { return executor->run(program, times); }

StepResult StepProgram::result() const {
  StepResult result;
  for (const auto &[name, tensor] : outputs) {
    double value = scalarOf(tensor);
    if (std::isnan(value)) // whose sign means nothing
      value = std::numeric_limits<double>::quiet_NaN();
    if (name == "loss")
      result.loss = value;
    else if (name == "grad_norm")
      result.gradNorm = value;
    else if (name == "lr")
      result.learningRate = value;
    else if (name == "skipped")
      result.skipped = value != 0;
    else if (isFloat(tensor.type->dtype))
      result.others.emplace_back(name, value);
  }
  return result;
}

} // namespace weft
