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
#include <optional>
#include <vector>

namespace weft {
namespace {

/// The program `generate`, bound. Inputs that this rank's part does not read are empty.
struct GenerateProgram {
  ProgramHandle program;
  std::span<int32_t> tokens;
  std::vector<int32_t> text; ///< of which `tokens` are `part`
  SequencePart part{0};
  std::span<int64_t> position;
  std::span<const float> logits;
};

absl::Status misfit(const std::string &what) {
  return withExitCode(absl::FailedPreconditionError(absl::StrCat(
                          "program 'generate' ", what,
                          "; needed are tokens tensor<1xTxi32>, position tensor<i64>, logits tensor<Vxf32>")),
                      ExitCode::Config);
}

/// The length of whole texts of an input `tokens`.
int64_t lengthOf(const ProgramInput &tokens) {
  return tokens.placement.globalShape.size() == 2 ? tokens.placement.globalShape[1] : tokens.type.elements();
}

absl::StatusOr<GenerateProgram> bindProgram(const Executor &executor, int64_t rank, int64_t length) {
  absl::StatusOr<ProgramHandle> program = executor.program("generate");
  if (!program.ok())
    return withExitCode(program.status(), ExitCode::Config);
  absl::StatusOr<HostTensor> logits = executor.output(*program, "logits");
  if (!logits.ok())
    return withExitCode(logits.status(), ExitCode::Config);
  if (logits->type->dtype != DType::F32)
    return misfit(absl::StrCat("gives logits ", logits->type->str()));
  GenerateProgram bound{
      *program,           {}, std::vector<int32_t>(static_cast<size_t>(length)), SequencePart(length), {},
      logits->as<float>()};
  const Executable &executable = executor.executable();
  for (const ProgramInput &input : executable.programs[program->index].inputs) {
    absl::StatusOr<HostTensor> tensor = executor.input(*program, input.name);
    if (!tensor.ok())
      return withExitCode(tensor.status(), ExitCode::Config);
    if (input.name == "tokens" && input.type.dtype == DType::I32) {
      bound.tokens = tensor->as<int32_t>();
      if (input.placement.globalShape.size() == 2)
        bound.part = SequencePart(executable.mesh, rank, length, input.placement.dimensions[1]);
    } else if (input.name == "position" && input.type == TensorType{DType::I64, {}}) {
      bound.position = tensor->as<int64_t>();
    } else {
      return misfit(absl::StrCat("takes ", input.name, " ", input.type.str()));
    }
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

absl::StatusOr<int64_t> textLengthOf(const std::vector<Executable> &parts) {
  const std::vector<Program> &programs = parts.front().programs;
  const auto isGenerate = [](const Program &program) { return program.name == "generate"; };
  const auto found = std::find_if(programs.begin(), programs.end(), isGenerate);
  if (found == programs.end())
    return withExitCode(absl::NotFoundError("no program 'generate' in this executable"), ExitCode::Config);
  std::optional<int64_t> length;
  bool hasPosition = false;
  for (const Executable &part : parts)
    for (const ProgramInput &input : part.programs[static_cast<size_t>(found - programs.begin())].inputs) {
      if (input.name == "tokens")
        length = lengthOf(input);
      hasPosition |= input.name == "position";
    }
  if (!length || !hasPosition)
    return misfit(absl::StrCat("reads no input '", length ? "position" : "tokens", "'"));
  return *length;
}

absl::Status generateText(Executor &executor, int64_t rank, int64_t length, const Tokenizer &tokenizer,
                          const GenerateConfig &options, const std::function<void(std::string_view)> &text) {
  absl::StatusOr<GenerateProgram> bound = bindProgram(executor, rank, length);
  if (!bound.ok())
    return bound.status();
  absl::StatusOr<std::vector<int32_t>> encoded =
      tokenizer.encode(options.prompt, {.readsSpecialTokens = true, .addsSpecialTokens = true});
  if (!encoded.ok())
    return encoded.status();
  std::vector<int32_t> ids = *std::move(encoded);
  if (ids.empty()) // the end of a document is what every document begins behind
    ids.push_back(tokenizer.endOfDocument());
  const size_t known = std::min(bound->logits.size(), static_cast<size_t>(tokenizer.vocabularySize()));
  const InitialValues random(static_cast<uint64_t>(options.seed), "generate");
  StreamingDecoder decoder(tokenizer);
  for (int64_t i = 0; i < options.maxTokens; ++i) {
    const size_t seen = std::min(ids.size(), bound->text.size());
    std::fill(bound->text.begin(), bound->text.end(), 0);
    std::copy(ids.end() - static_cast<int64_t>(seen), ids.end(), bound->text.begin());
    if (!bound->tokens.empty())
      bound->part.copy(bound->text, bound->tokens);
    if (!bound->position.empty())
      bound->position[0] = static_cast<int64_t>(seen) - 1;
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
