//===- Generator.cpp - Text from a trained model --------------------------===//
//
// The program computes the whole sequence for each token: what lies behind the last one is zero, and causal
// attention does not see it.
//
//===----------------------------------------------------------------------===//
#include "runtime/train/Generator.h"

#include "runtime/support/ExitCode.h"
#include "runtime/support/InitialValues.h"
#include "runtime/tokenizer/StreamingDecoder.h"
#include "runtime/train/SequencePart.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace weft {
namespace {

/// The program `generate`, bound.
struct GenerateProgram {
  ProgramHandle program;
  std::span<int32_t> tokens;
  std::vector<int32_t> text; ///< of which `tokens` are `part`
  SequencePart part{0};
  std::span<int64_t> position;
  std::span<const float> logits;
};

absl::StatusOr<GenerateProgram> bindProgram(const Executor &executor, int64_t rank) {
  absl::StatusOr<ProgramHandle> program = executor.program("generate");
  if (!program.ok())
    return withExitCode(program.status(), ExitCode::Config);
  absl::StatusOr<HostTensor> tokens = executor.input(*program, "tokens");
  absl::StatusOr<HostTensor> position = executor.input(*program, "position");
  absl::StatusOr<HostTensor> logits = executor.output(*program, "logits");
  for (const absl::Status &status : {tokens.status(), position.status(), logits.status()})
    if (!status.ok())
      return withExitCode(status, ExitCode::Config);
  const bool fits = tokens->type->dtype == DType::I32 && tokens->type->elements() > 0 &&
                    *position->type == TensorType{DType::I64, {}} && logits->type->dtype == DType::F32;
  if (!fits)
    return withExitCode(
        absl::FailedPreconditionError(
            absl::StrCat("program 'generate' takes tokens ", tokens->type->str(), " and position ",
                         position->type->str(), " and gives logits ", logits->type->str(),
                         "; needed are tokens tensor<1xTxi32>, position tensor<i64>, logits tensor<Vxf32>")),
        ExitCode::Config);
  GenerateProgram bound{*program,        tokens->as<int32_t>(),   {},
                        SequencePart(0), position->as<int64_t>(), logits->as<float>()};
  const Executable &executable = executor.executable();
  for (const ProgramInput &input : executable.programs[program->index].inputs)
    if (input.name == "tokens") {
      const bool isSplit = input.placement.globalShape.size() == 2;
      const int64_t length = isSplit ? input.placement.globalShape[1] : input.type.elements();
      bound.text.resize(static_cast<size_t>(length));
      bound.part = isSplit ? SequencePart(executable.mesh, rank, length, input.placement.dimensions[1])
                           : SequencePart(length);
    }
  return bound;
}

} // namespace

int32_t sampleToken(std::span<const float> logits, double temperature, int64_t topK, double uniform) {
  std::vector<int32_t> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  const auto likelier = [&](int32_t a, int32_t b) {
    return logits[a] != logits[b] ? logits[a] > logits[b] : a < b;
  };
  if (temperature == 0)
    return *std::min_element(order.begin(), order.end(), likelier);
  size_t count = order.size();
  if (topK > 0)
    count = std::min(count, static_cast<size_t>(topK));
  std::partial_sort(order.begin(), order.begin() + static_cast<int64_t>(count), order.end(), likelier);
  std::vector<double> upTo(count);
  double sum = 0;
  for (size_t i = 0; i < count; ++i)
    upTo[i] = sum += std::exp((double{logits[order[i]]} - logits[order[0]]) / temperature);
  const size_t picked =
      static_cast<size_t>(std::upper_bound(upTo.begin(), upTo.end(), uniform * sum) - upTo.begin());
  return order[std::min(picked, count - 1)];
}

absl::Status generateText(Executor &executor, int64_t rank, const Tokenizer &tokenizer,
                          const GenerateConfig &options, const std::function<void(std::string_view)> &text) {
  absl::StatusOr<GenerateProgram> bound = bindProgram(executor, rank);
  if (!bound.ok())
    return bound.status();
  std::vector<int32_t> ids;
  tokenizer.encode(options.prompt, ids);
  if (ids.empty()) // the end of a document is what every document begins behind
    ids.push_back(tokenizer.endOfDocument());
  const size_t known = std::min(bound->logits.size(), static_cast<size_t>(tokenizer.vocabularySize()));
  const InitialValues random(static_cast<uint64_t>(options.seed), "generate");
  StreamingDecoder decoder(tokenizer);
  for (int64_t i = 0; i < options.maxTokens; ++i) {
    const size_t length = std::min(ids.size(), bound->text.size());
    std::fill(bound->text.begin(), bound->text.end(), 0);
    std::copy(ids.end() - static_cast<int64_t>(length), ids.end(), bound->text.begin());
    bound->part.copy(bound->text, bound->tokens);
    bound->position[0] = static_cast<int64_t>(length) - 1;
    if (absl::Status status = executor.run(bound->program); !status.ok())
      return status;
    std::span<const float> logits = bound->logits.first(known);
    if (!std::all_of(logits.begin(), logits.end(), [](float logit) { return std::isfinite(logit); }))
      return withExitCode(
          absl::OutOfRangeError(absl::StrCat("the logits of token ", i + 1,
                                             " are not finite: these weights are not those of a sound run")),
          ExitCode::NonFinite);
    ids.push_back(sampleToken(logits, options.temperature, options.topK, random.uniform(i)));
    if (ids.back() == tokenizer.endOfDocument())
      break;
    absl::StatusOr<std::string> piece = decoder.feed(ids.back());
    if (!piece.ok())
      return piece.status();
    text(*piece);
  }
  text(decoder.finish());
  return absl::OkStatus();
}

} // namespace weft
