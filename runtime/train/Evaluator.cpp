//===- Evaluator.cpp - The loss on held-out data --------------------------===//
//
// A token without bytes (the end of a document) counts as a token and adds no byte.
//
//===----------------------------------------------------------------------===//
#include "runtime/train/Evaluator.h"

#include "runtime/support/ExitCode.h"
#include "runtime/train/StepProgram.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace weft {

absl::StatusOr<Evaluator> Evaluator::bind(Executor &executor, const Config &config,
                                          std::shared_ptr<const TrainingData> data,
                                          const Tokenizer &tokenizer, int64_t batches) {
  absl::StatusOr<ProgramHandle> program = executor.program("evaluate");
  if (!program.ok())
    return withExitCode(program.status(), ExitCode::Config);
  Evaluator evaluator;
  evaluator.executor = &executor;
  evaluator.program = *program;
  const std::pair<const char *, HostTensor *> inputs[] = {{"tokens", &evaluator.tokens},
                                                          {"targets", &evaluator.targets}};
  const TensorType expected = {DType::I32, {config.train.microBatch, config.data.sequenceLength}};
  for (auto [name, tensor] : inputs) {
    absl::StatusOr<HostTensor> found = executor.input(*program, name);
    if (!found.ok())
      return withExitCode(found.status(), ExitCode::Config);
    if (!(*found->type == expected))
      return withExitCode(absl::FailedPreconditionError(
                              absl::StrCat("program 'evaluate': input '", name, "' is ", found->type->str(),
                                           ", the run file needs ", expected.str())),
                          ExitCode::Config);
    *tensor = *found;
  }
  const std::pair<const char *, HostTensor *> outputs[] = {{"loss_sum", &evaluator.lossSum},
                                                           {"target_tokens", &evaluator.targetTokens}};
  for (auto [name, tensor] : outputs) {
    absl::StatusOr<HostTensor> found = executor.output(*program, name);
    if (!found.ok())
      return withExitCode(found.status(), ExitCode::Config);
    *tensor = *found;
  }
  int64_t samples = std::min(batches * config.train.globalBatch, data->samples(Split::Validation));
  if (samples == 0)
    return withExitCode(
        absl::FailedPreconditionError("no tokens are held out: set data.validation_fraction above 0"),
        ExitCode::Config);
  evaluator.microBatch = config.train.microBatch;
  evaluator.microbatches = std::max<int64_t>(samples / config.train.microBatch, 1);
  for (int32_t id = 0; id < tokenizer.vocabularySize(); ++id)
    evaluator.bytesOfToken.push_back(static_cast<int64_t>(tokenizer.bytesOf(id)->size()));
  evaluator.data = std::move(data);
  return evaluator;
}

void Evaluator::countBytes(std::span<const int32_t> ids) {
  for (int32_t id : ids)
    if (id >= 0 && static_cast<size_t>(id) < bytesOfToken.size())
      targetBytes += bytesOfToken[static_cast<size_t>(id)];
}

absl::StatusOr<Evaluation> Evaluator::evaluate() {
  double sum = 0, tokensSeen = 0;
  targetBytes = 0;
  const size_t length = static_cast<size_t>(data->sequenceLength());
  for (int64_t m = 0; m < microbatches; ++m) {
    for (int64_t i = 0; i < microBatch; ++i) {
      const size_t begin = static_cast<size_t>(i) * length;
      std::span<int32_t> ids = targets.as<int32_t>().subspan(begin, length);
      if (absl::Status status = data->read(Split::Validation, m * microBatch + i,
                                           tokens.as<int32_t>().subspan(begin, length), ids);
          !status.ok())
        return withExitCode(status, ExitCode::Data);
      countBytes(ids);
    }
    if (absl::Status status = executor->run(program); !status.ok())
      return status;
    sum += scalarOf(lossSum);
    tokensSeen += scalarOf(targetTokens);
  }
  if (std::isnan(sum)) // whose sign means nothing
    sum = std::numeric_limits<double>::quiet_NaN();
  return Evaluation{sum / std::max(tokensSeen, 1.0),
                    sum / std::numbers::ln2 / static_cast<double>(std::max<int64_t>(targetBytes, 1)),
                    microbatches * microBatch};
}

} // namespace weft
