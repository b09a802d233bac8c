//===- Evaluator.cpp - The loss on held-out data --------------------------===//
//
// A token without bytes (the end of a document) counts as a token and adds no byte. Where the samples do not
// fill the last batch, the rest of it has targets that the program does not count.
//
//===----------------------------------------------------------------------===//
#include "runtime/train/Evaluator.h"

#include "runtime/support/ExitCode.h"
#include "runtime/train/RankAgreement.h"
#include "runtime/train/StepProgram.h"
#include "runtime/train/TreeSum.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace weft {

double Evaluation::perplexity() const { return std::exp(loss); }

absl::StatusOr<Evaluator> Evaluator::bind(Executor &executor, Communicator &communicator,
                                          const Config &config,
                                          std::shared_ptr<const EvaluationSamples> samples,
                                          const Tokenizer &tokenizer) {
  absl::StatusOr<ProgramHandle> program = executor.program("evaluate");
  if (!program.ok())
    return withExitCode(program.status(), ExitCode::Config);
  Evaluator evaluator;
  evaluator.executor = &executor;
  evaluator.communicator = &communicator;
  evaluator.rank = dataRankOf(executor.executable().mesh, communicator.rank());
  evaluator.program = *program;
  const TensorType expected = {DType::I32, {config.train.microBatch, config.data.sequenceLength}};
  const Program &source = executor.executable().programs[program->index];
  for (Input &bound : evaluator.inputs)
    bound.samples.resize(static_cast<size_t>(expected.elements()));
  for (const ProgramInput &input : source.inputs) {
    const size_t number = tokenInputNamed(input.name);
    if (number == kTokenInputs.size())
      return withExitCode(absl::FailedPreconditionError(
                              absl::StrCat("program 'evaluate' asks for the input '", input.name,
                                           "'; the trainer gives tokens, targets, segments and positions")),
                          ExitCode::Config);
    Input &bound = evaluator.inputs[number];
    absl::StatusOr<HostTensor> found = executor.input(*program, input.name);
    if (!found.ok())
      return withExitCode(found.status(), ExitCode::Config);
    bound.tensor = *found;
    absl::StatusOr<SequencePart> part =
        bindBatchInput(executor.executable(), source, input, communicator.rank(), expected, false);
    if (!part.ok())
      return part.status();
    bound.part = *part;
  }
  for (size_t number : {0, 1}) // of a pipeline other stages may read them
    if (!evaluator.inputs[number].tensor.type && executor.executable().mesh.pipelineRanks() == 1)
      return withExitCode(executor.input(*program, std::string(kTokenInputs[number].name)).status(),
                          ExitCode::Config);
  const std::pair<const char *, HostTensor *> outputs[] = {{"loss_sum", &evaluator.lossSum},
                                                           {"target_tokens", &evaluator.targetTokens}};
  for (auto [name, tensor] : outputs) {
    absl::StatusOr<HostTensor> found = executor.output(*program, name);
    if (!found.ok())
      return withExitCode(found.status(), ExitCode::Config);
    *tensor = *found;
  }
  if (samples->count() == 0)
    return withExitCode(
        absl::FailedPreconditionError("no tokens are held out: set data.validation_fraction above 0"),
        ExitCode::Config);
  evaluator.microBatch = config.train.microBatch;
  for (int32_t id = 0; id < tokenizer.vocabularySize(); ++id)
    evaluator.bytesOfToken.push_back(static_cast<int64_t>(tokenizer.bytesOf(id)->size()));
  evaluator.length = config.data.sequenceLength;
  evaluator.samples = std::move(samples);
  return evaluator;
}

void Evaluator::countBytes(std::span<const int32_t> ids) {
  for (int32_t id : ids)
    if (id >= 0 && static_cast<size_t>(id) < bytesOfToken.size())
      targetBytes += bytesOfToken[static_cast<size_t>(id)];
}

/// This rank's rows of a batch, and its positions of them.
absl::Status Evaluator::fill(int64_t run) {
  const int64_t firstSample = (run * rank.count + rank.index) * microBatch;
  for (int64_t i = 0; i < microBatch; ++i) {
    Sample sample;
    for (size_t number = 0; number < inputs.size(); ++number)
      sample.*kTokenInputs[number].ofSample =
          std::span(inputs[number].samples)
              .subspan(static_cast<size_t>(i * length), static_cast<size_t>(length));
    if (firstSample + i >= samples->count()) {
      for (const TokenInput &input : kTokenInputs)
        std::ranges::fill(sample.*input.ofSample, 0);
      std::ranges::fill(sample.targets, kNoTarget);
      continue;
    }
    if (absl::Status status = samples->read(firstSample + i, sample, scratch); !status.ok())
      return withExitCode(status, ExitCode::Data);
    if (rank.counts)
      countBytes(sample.targets);
  }
  for (Input &input : inputs)
    if (input.tensor.type)
      input.part.copy(input.samples, input.tensor.as<int32_t>());
  return absl::OkStatus();
}

absl::Status Evaluator::checkGoesOn(const EvaluationListener &listener, int64_t done) {
  if (!listener.stopRequested)
    return absl::OkStatus();
  absl::StatusOr<bool> stops = anyRank(*communicator, listener.stopRequested());
  if (!stops.ok() || !*stops)
    return stops.status();
  return withExitCode(absl::CancelledError(absl::StrCat("stopped by a signal after ", done, " samples")),
                      ExitCode::Stopped);
}

absl::StatusOr<Evaluation> Evaluator::evaluate(const EvaluationListener &listener) {
  TreeSum losses;
  double tokensSeen = 0;
  targetBytes = 0;
  const int64_t atOnce = rank.count * microBatch, count = samples->count();
  for (int64_t run = 0; run * atOnce < count; ++run) {
    if (absl::Status status = checkGoesOn(listener, run * atOnce); !status.ok())
      return status;
    if (absl::Status status = fill(run); !status.ok())
      return status;
    if (absl::Status status = executor->run(program); !status.ok())
      return status;
    losses.add(scalarOf(lossSum));
    tokensSeen += scalarOf(targetTokens);
    listener.done(std::min(count, (run + 1) * atOnce));
  }
  if (absl::Status status = communicator->allReduce(std::as_writable_bytes(std::span(&targetBytes, 1)),
                                                    DType::I64, ReduceKind::Sum);
      !status.ok())
    return status;
  double sum = losses.total();
  if (std::isnan(sum)) // whose sign means nothing
    sum = std::numeric_limits<double>::quiet_NaN();
  const int64_t bytes = samples->textBytes().value_or(targetBytes);
  return Evaluation{sum / std::max(tokensSeen, 1.0),
                    sum / std::numbers::ln2 / static_cast<double>(std::max<int64_t>(bytes, 1)), count,
                    static_cast<int64_t>(tokensSeen), bytes};
}

} // namespace weft
