//===- Evaluator.h - The loss on held-out data ----------------------------===//
//
// Runs the program `evaluate` over samples. Which these are, and their order, depends on nothing but the data
// and the global batch, and the sums are folded in that order in float64: equal parameters give the same
// bits, at any step of any run. Each data rank reads its part of every batch; the program gives the sums of
// all.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TRAIN_EVALUATOR_H
#define WEFT_RUNTIME_TRAIN_EVALUATOR_H

#include "runtime/comm/Communicator.h"
#include "runtime/config/Config.h"
#include "runtime/exec/Executor.h"
#include "runtime/tokenizer/Tokenizer.h"
#include "runtime/train/DataRank.h"
#include "runtime/train/EvaluationSamples.h"
#include "runtime/train/TokenInputs.h"

#include <functional>
#include <memory>

namespace weft {

struct Evaluation {
  double loss = 0;        ///< nats per target token
  double bitsPerByte = 0; ///< the same over the bytes that the targets stand for
  int64_t samples = 0;
  int64_t tokens = 0; ///< targets
  int64_t bytes = 0;  ///< that they stand for

  double perplexity() const;
};

/// Who listens to an evaluation, on each rank.
struct EvaluationListener {
  std::function<void(int64_t samples)> done = [](int64_t) {}; ///< behind each batch
  std::function<bool()> stopRequested; ///< on all ranks or on none; asked before each batch
};

class Evaluator {
public:
  /// NotFound when the executable has no program `evaluate`, FailedPrecondition when it does not fit, or when
  /// there is no sample.
  static absl::StatusOr<Evaluator> bind(Executor &executor, Communicator &communicator, const Config &config,
                                        std::shared_ptr<const EvaluationSamples> samples,
                                        const Tokenizer &tokenizer);

  /// The same on every rank; all of them call it. CANCELLED (exit code stopped) on all when any was asked to
  /// stop.
  absl::StatusOr<Evaluation> evaluate(const EvaluationListener &listener = {});

private:
  Evaluator() = default;
  absl::Status fill(int64_t run);
  absl::Status checkGoesOn(const EvaluationListener &listener, int64_t done);
  void countBytes(std::span<const int32_t> targets);

  Executor *executor = nullptr;
  Communicator *communicator = nullptr;
  ProgramHandle program;
  std::shared_ptr<const EvaluationSamples> samples;
  std::vector<int64_t> bytesOfToken;
  /// An input, and what it takes of the samples that were read. No tensor: this rank's part takes nothing.
  struct Input {
    HostTensor tensor;
    SequencePart part{0};
    std::vector<int32_t> samples;
  };
  std::array<Input, kTokenInputs.size()> inputs;
  SampleScratch scratch;
  HostTensor lossSum, targetTokens;
  DataRank rank;
  int64_t microBatch = 0; ///< samples that one rank takes at once
  int64_t length = 0;     ///< of a sample
  int64_t targetBytes = 0;
};

} // namespace weft

#endif // WEFT_RUNTIME_TRAIN_EVALUATOR_H
