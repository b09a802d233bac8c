//===- ConfigChecks.cpp - Values that must agree --------------------------===//
//
// One function for each section that has something to agree on. Every single value is in its range here.
//
//===----------------------------------------------------------------------===//
#include "runtime/config/ConfigChecks.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <algorithm>

namespace weft {

namespace {
class Checks {
public:
  Checks(const Config &config, const std::map<std::string, Origin> &origins, const Origin &fallback,
         Diagnostics &diagnostics)
      : config(config), origins(origins), fallback(fallback), diagnostics(diagnostics) {}

  void checkModel();
  void checkRopeScaling();
  void checkBatches();
  void checkSchedule();
  void checkData();
  void checkDump();

private:
  void report(const std::string &path, const std::string &what) {
    auto found = origins.find(path);
    diagnostics.error(found == origins.end() ? fallback : found->second, path, what);
  }

  const Config &config;
  const std::map<std::string, Origin> &origins;
  const Origin &fallback;
  Diagnostics &diagnostics;
};
} // namespace

/// All divisors of a number up to a bound, in ascending order; of many, those next to `near`.
static std::vector<int64_t> divisorsNear(int64_t number, int64_t near) {
  std::vector<int64_t> divisors;
  for (int64_t low = 1; low <= number / low; ++low)
    if (number % low == 0) {
      divisors.push_back(low);
      if (low != number / low)
        divisors.push_back(number / low);
    }
  std::sort(divisors.begin(), divisors.end());
  constexpr ptrdiff_t shown = 8;
  auto middle = std::lower_bound(divisors.begin(), divisors.end(), near) - divisors.begin();
  auto first =
      std::clamp<ptrdiff_t>(middle - shown / 2, 0, std::max<ptrdiff_t>(0, std::ssize(divisors) - shown));
  auto last = std::min<ptrdiff_t>(first + shown, std::ssize(divisors));
  return {divisors.begin() + first, divisors.begin() + last};
}

static std::string listDivisors(int64_t number, int64_t near) {
  return absl::StrJoin(divisorsNear(number, near), ", ");
}

void Checks::checkModel() {
  const ModelConfig &model = config.model;
  if (model.numAttentionHeads % model.numKeyValueHeads != 0)
    report("model.num_key_value_heads",
           absl::StrCat(model.numKeyValueHeads, " does not divide num_attention_heads (",
                        model.numAttentionHeads,
                        "). Works: ", listDivisors(model.numAttentionHeads, model.numKeyValueHeads), "."));
  bool headDimGiven = origins.count("model.head_dim") != 0;
  if (!headDimGiven && model.hiddenSize % model.numAttentionHeads != 0)
    report("model.num_attention_heads",
           absl::StrCat(model.numAttentionHeads, " does not divide hidden_size (", model.hiddenSize,
                        "), and head_dim is not given. Works: ",
                        listDivisors(model.hiddenSize, model.numAttentionHeads), ", or a head_dim."));
  else if (model.headDim % 2 != 0)
    report(headDimGiven ? "model.head_dim" : "model.num_attention_heads",
           absl::StrCat("head_dim is ", model.headDim,
                        headDimGiven ? "" : " (hidden_size / num_attention_heads)",
                        ", and rotary embeddings rotate pairs. Works: an even head_dim, such as ",
                        model.headDim + 1, "."));
  if (model.attentionDropout > 0)
    report("model.attention_dropout",
           "the attention kernel has no dropout, and a model trained without it would be another one. Works: "
           "0.");
  if (config.tokenizer.kind == TokenizerKind::Bytes && model.vocabSize < 257)
    report("model.vocab_size",
           absl::StrCat(model.vocabSize, " is less than the 257 ids of tokenizer bytes (256 bytes "
                                         "and the end of a document). Works: 257 or more."));
  if (config.data.sequenceLength > model.maxPositionEmbeddings)
    report("data.sequence_length",
           absl::StrCat(config.data.sequenceLength, " is over model.max_position_embeddings (",
                        model.maxPositionEmbeddings, "). Works: at most ", model.maxPositionEmbeddings,
                        ", or a larger model.max_position_embeddings."));
}

void Checks::checkRopeScaling() {
  const RopeScalingConfig &rope = config.model.ropeScaling;
  if (rope.ropeType == RopeType::Llama3 && rope.lowFreqFactor >= rope.highFreqFactor)
    report("model.rope_scaling.low_freq_factor",
           absl::StrCat(rope.lowFreqFactor, " is not below high_freq_factor (", rope.highFreqFactor,
                        "). Works: less than ", rope.highFreqFactor, "."));
  if (rope.ropeType == RopeType::Yarn && rope.betaSlow >= rope.betaFast)
    report("model.rope_scaling.beta_slow",
           absl::StrCat(rope.betaSlow, " is not below beta_fast (", rope.betaFast, "). Works: less than ",
                        rope.betaFast, "."));
}

void Checks::checkBatches() {
  const TrainConfig &train = config.train;
  if (train.globalBatch % train.microBatch != 0)
    report("train.micro_batch",
           absl::StrCat(train.microBatch, " does not divide global_batch (", train.globalBatch,
                        "). Works: ", listDivisors(train.globalBatch, train.microBatch), "."));
  constexpr int64_t mostTokens = 2147483647;
  if (train.microBatch > mostTokens / config.data.sequenceLength)
    report("train.micro_batch",
           absl::StrCat(train.microBatch, " samples of ", config.data.sequenceLength,
                        " tokens are more than ", mostTokens, " tokens at once. Works: at most ",
                        mostTokens / config.data.sequenceLength, "."));
}

void Checks::checkSchedule() {
  const LrScheduleConfig &schedule = config.lrSchedule;
  int64_t steps = config.train.steps;
  if (schedule.warmupSteps > steps) {
    report("lr_schedule.warmup_steps", absl::StrCat(schedule.warmupSteps, " is over train.steps (", steps,
                                                    "). Works: at most ", steps, "."));
    return;
  }
  if (schedule.kind == LrScheduleKind::Wsd && schedule.decaySteps > steps - schedule.warmupSteps)
    report("lr_schedule.decay_steps", absl::StrCat(schedule.decaySteps, " does not fit into train.steps (",
                                                   steps, ") after warmup_steps (", schedule.warmupSteps,
                                                   "). Works: at most ", steps - schedule.warmupSteps, "."));
}

void Checks::checkData() {
  if (config.data.train.empty())
    report("data.train", "the list is empty. Works: at least one {path: FILE}.");
}

void Checks::checkDump() {
  for (int64_t step : config.train.dump.steps)
    if (step > config.train.steps)
      report("train.dump.steps",
             absl::StrCat(step, " is over train.steps (", config.train.steps,
                          "): nothing would be written. Works: 1 to ", config.train.steps, "."));
}

void deriveDefaults(Config &config, const std::map<std::string, Origin> &origins) {
  ModelConfig &model = config.model;
  if (!origins.count("model.num_key_value_heads"))
    model.numKeyValueHeads = model.numAttentionHeads;
  if (!origins.count("model.head_dim") && model.numAttentionHeads > 0)
    model.headDim = model.hiddenSize / model.numAttentionHeads;
  if (!origins.count("model.rope_scaling.original_max_position_embeddings"))
    model.ropeScaling.originalMaxPositionEmbeddings = model.maxPositionEmbeddings;
}

void checkAcrossKeys(const Config &config, const std::map<std::string, Origin> &origins,
                     const Origin &fallback, Diagnostics &diagnostics) {
  Checks checks(config, origins, fallback, diagnostics);
  if (config.model.program.empty()) {
    checks.checkModel();
    checks.checkRopeScaling();
  }
  checks.checkBatches();
  checks.checkSchedule();
  checks.checkData();
  checks.checkDump();
}

} // namespace weft
