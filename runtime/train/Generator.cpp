#include "runtime/train/Generator.h"

#include "runtime/support/ExitCode.h"
#include "runtime/support/InitialValues.h"
#include "runtime/tokenizer/StreamingDecoder.h"
#include "runtime/train/RankAgreement.h"
#include "runtime/train/Sampling.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace weft {
namespace {

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

absl::Status checkFinite(std::span<const float> logits, int64_t token) {
  if (std::all_of(logits.begin(), logits.end(), [](float logit) { return std::isfinite(logit); }))
    return absl::OkStatus();
  return withExitCode(absl::OutOfRangeError(absl::StrCat("the logits of token ", token,
                                                         " are not finite: these weights are not those of a "
                                                         "sound run")),
                      ExitCode::NonFinite);
}

} // namespace

absl::StatusOr<GeneratedText> generateText(TextWindow &window, Communicator &communicator,
                                           const Tokenizer &tokenizer, const GenerateConfig &options,
                                           const TextListener &listener) {
  absl::StatusOr<std::vector<int32_t>> encoded =
      tokenizer.encode(options.prompt, {.readsSpecialTokens = true, .addsSpecialTokens = true});
  if (!encoded.ok())
    return encoded.status();
  std::vector<int32_t> ids = *std::move(encoded);
  if (ids.empty()) // the end of a document is what every document begins behind
    ids.push_back(tokenizer.endOfDocument());
  const InitialValues random(static_cast<uint64_t>(options.seed), "generate");
  StreamingDecoder decoder(tokenizer);
  GeneratedText done{static_cast<int64_t>(ids.size())};
  const Clock::time_point begin = Clock::now();
  while (done.tokens < options.maxTokens) {
    absl::StatusOr<bool> stops = anyRank(communicator, listener.stopRequested());
    if (!stops.ok())
      return stops.status();
    if (*stops)
      return withExitCode(absl::CancelledError(absl::StrCat("stopped by a signal after ", done.tokens,
                                                            done.tokens == 1 ? " token" : " tokens")),
                          ExitCode::Stopped);
    absl::StatusOr<std::span<const float>> all = window.logitsBehind(ids);
    if (!all.ok())
      return all.status();
    std::span<const float> logits =
        all->first(std::min(all->size(), static_cast<size_t>(tokenizer.vocabularySize())));
    if (absl::Status status = checkFinite(logits, done.tokens + 1); !status.ok())
      return status;
    ids.push_back(sampleToken(logits, options, random.uniform(done.tokens)));
    if (++done.tokens == 1)
      done.promptSeconds = secondsSince(begin);
    if (ids.back() == tokenizer.endOfDocument())
      break;
    absl::StatusOr<std::string> piece = decoder.feed(ids.back());
    if (!piece.ok())
      return piece.status();
    listener.text(*piece);
  }
  done.secondsBehind = secondsSince(begin) - done.promptSeconds;
  listener.text(decoder.finish());
  return done;
}

} // namespace weft
