//===- ConfigChecks.cpp - Values that must agree --------------------------===//
//
// One function for each section that has something to agree on. Every single value is in its range here.
//
//===----------------------------------------------------------------------===//
#include "runtime/config/ConfigChecks.h"

#include "runtime/config/ConfigMesh.h"
#include "runtime/config/ModelFamilies.h"
#include "runtime/config/Schema.h"
#include "runtime/config/StageLayout.h"
#include "runtime/support/ScheduleShape.h"

#include "absl/strings/match.h"
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
  void checkLayerTypes();
  void checkRopeScaling();
  void checkParallel();
  void checkContext();
  void checkPipeline();
  void checkBatches();
  bool checkReduction();
  void checkMicrobatches();
  void checkSchedule();
  void checkData();
  void checkDump();

private:
  /// What gives launch.ranks this value: itself, or the command of the launcher that gave it another.
  std::string ranksThatWork(int64_t ranks) const {
    auto found = origins.find("launch.ranks");
    const std::string source = found == origins.end() ? "" : found->second.source;
    const std::string suffix = absl::StrCat(" -n ", *config.launch.ranks);
    return absl::EndsWith(source, suffix)
               ? absl::StrCat(source.substr(0, source.size() - suffix.size()), " -n ", ranks)
               : absl::StrCat(ranks, ", auto");
  }
  void report(const std::string &path, const std::string &what) {
    // What is missing is reported where the list or section that lacks it was given.
    auto found = origins.find(path);
    for (size_t end = path.size(); found == origins.end() && end != std::string::npos && end > 0;) {
      end = path.find_last_of(".[", end - 1);
      if (end != std::string::npos)
        found = origins.find(path.substr(0, end));
    }
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

/// The positive multiples of a unit next to a number that is none: "8 or 12".
static std::string multiplesAround(int64_t number, int64_t unit) {
  const int64_t below = number / unit * unit;
  return below == 0 ? absl::StrCat(unit) : absl::StrCat(below, " or ", below + unit);
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
  else if (traitsOf(model.family).takes("rope_theta") && model.headDim % 2 != 0)
    report(headDimGiven ? "model.head_dim" : "model.num_attention_heads",
           absl::StrCat("head_dim is ", model.headDim,
                        headDimGiven ? "" : " (hidden_size / num_attention_heads)",
                        ", and rotary embeddings rotate pairs. Works: an even head_dim, such as ",
                        model.headDim + 1, "."));
  if (model.attentionDropout > 0)
    report("model.attention_dropout",
           "the attention kernel has no dropout, and a model trained without it would be another one. Works: "
           "0 (attn_pdrop of gpt2 is the same key).");
  if (config.tokenizer.file.empty() && model.vocabSize < 257)
    report("model.vocab_size",
           absl::StrCat(model.vocabSize, " is less than the 257 ids of tokenizer bytes (256 bytes "
                                         "and the end of a document). Works: 257 or more."));
  if (config.data.sequenceLength > model.maxPositionEmbeddings)
    report("data.sequence_length",
           absl::StrCat(config.data.sequenceLength, " is over model.max_position_embeddings (",
                        model.maxPositionEmbeddings, "). Works: at most ", model.maxPositionEmbeddings,
                        ", or a larger model.max_position_embeddings."));
}

void Checks::checkLayerTypes() {
  const ModelConfig &model = config.model;
  const std::vector<std::string> &types = model.layerTypes;
  if (!traitsOf(model.family).isSliding)
    return;
  if (std::ssize(types) != model.numHiddenLayers)
    report("model.layer_types",
           absl::StrCat("names ", types.size(), " layers, and num_hidden_layers is ", model.numHiddenLayers,
                        ". Works: a list of ", model.numHiddenLayers, ", or null: the family's pattern."));
  for (size_t layer = 0; layer < types.size(); ++layer)
    if (types[layer] != fullLayerType && types[layer] != slidingLayerType)
      report("model.layer_types", absl::StrCat("layer ", layer, " is ", quoteYaml(types[layer]),
                                               ". Works: ", fullLayerType, ", ", slidingLayerType, "."));
  const bool slides = std::find(types.begin(), types.end(), slidingLayerType) != types.end();
  if (slides && traitsOf(model.family).takes("use_sliding_window") && !model.useSlidingWindow)
    report("model.layer_types",
           "has sliding layers, and use_sliding_window is false. Works: use_sliding_window: true, or "
           "full_attention for every layer.");
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

/// The sizes that leave data_shard the rest.
static int64_t ranksBesideDataShard(const ParallelConfig &parallel) {
  return parallel.dataReplicate * parallel.tensor * parallel.context.size * parallel.pipeline.size;
}

bool headsAreShared(const ModelConfig &model, int64_t tensor, int64_t context) {
  if (model.numKeyValueHeads < 1)
    return false;
  int64_t left = model.numKeyValueHeads, inGroup = model.numAttentionHeads / model.numKeyValueHeads;
  for (int64_t ranks : {tensor, context})
    for (uint32_t axis : primeFactors(ranks)) {
      if (left == 1)
        std::swap(left, inGroup);
      if (left % axis != 0)
        return false;
      left /= axis;
    }
  return true;
}

void Checks::checkParallel() {
  const ParallelConfig &parallel = config.parallel;
  const int64_t others = ranksBesideDataShard(parallel);
  // Who never heard of context or pipelines need not read of them.
  std::string furtherNames, furtherSizes;
  auto addFurther = [&](const char *name, int64_t size) {
    if (size > 1)
      absl::StrAppend(&furtherNames, " x ", name), absl::StrAppend(&furtherSizes, " x ", size);
  };
  addFurther("context.size", parallel.context.size);
  addFurther("pipeline.size", parallel.pipeline.size);
  const std::string product =
      absl::StrCat(parallel.dataReplicate, " x ", parallel.tensor, furtherSizes, " = ", others);
  if (parallel.dataShard == 0)
    report("parallel.data_shard",
           "0 is no number of ranks. Works: 1 or more, or -1 (what launch.ranks leaves).");
  else if (parallel.dataShard < 0) // what launch.ranks leaves is no whole number
    report("launch.ranks",
           absl::StrCat(*config.launch.ranks, " is no multiple of data_replicate x tensor", furtherNames,
                        " (", product, "), and data_shard is what is left. Works: ",
                        multiplesAround(*config.launch.ranks, others), "."));
  else if (config.launch.ranks && *config.launch.ranks != parallel.ranks())
    report("launch.ranks",
           absl::StrCat(*config.launch.ranks, " is not data_replicate x data_shard x tensor", furtherNames,
                        " (", parallel.dataReplicate, " x ", parallel.dataShard, " x ", parallel.tensor,
                        furtherSizes, " = ", parallel.ranks(), "). Works: ", ranksThatWork(parallel.ranks()),
                        *config.launch.ranks % others == 0 ? ", or data_shard: -1 (what is left)." : "."));
  if (config.model.program.empty() && config.model.numAttentionHeads % parallel.tensor != 0)
    report("parallel.tensor",
           absl::StrCat(parallel.tensor, " does not divide num_attention_heads (",
                        config.model.numAttentionHeads,
                        "). Works: ", listDivisors(config.model.numAttentionHeads, parallel.tensor), "."));
  if (parallel.sequence && config.data.sequenceLength % parallel.tensor != 0)
    report("parallel.sequence",
           absl::StrCat("tensor (", parallel.tensor, ") does not divide data.sequence_length (",
                        config.data.sequenceLength, "). Works: false, or a sequence_length of ",
                        multiplesAround(config.data.sequenceLength, parallel.tensor), "."));
  else if (parallel.context.size > 1)
    checkContext();
  if (parallel.pipeline.size > 1)
    checkPipeline();
}

/// Positions are shared in equal parts, in zigzag in two equal chunks each; heads in whole groups.
void Checks::checkContext() {
  const ParallelConfig &parallel = config.parallel;
  const int64_t unit = parallel.sequenceUnit();
  if (config.data.sequenceLength % unit != 0)
    report("parallel.context.size",
           absl::StrCat(
               parallel.sequence ? absl::StrCat("with sequence, tensor (", parallel.tensor, ") x ") : "",
               parallel.context.size, " ranks cannot share data.sequence_length (",
               config.data.sequenceLength, ") in equal ",
               parallel.context.zigzag() ? "pairs of chunks" : "parts", ". Works: a sequence_length of ",
               multiplesAround(config.data.sequenceLength, unit), "."));
  if (parallel.context.method != ContextMethod::AllToAll || !config.model.program.empty() ||
      headsAreShared(config.model, parallel.tensor, parallel.context.size))
    return;
  std::vector<int64_t> works;
  for (int64_t size = 2; size <= config.model.numAttentionHeads; ++size)
    if (headsAreShared(config.model, parallel.tensor, size))
      works.push_back(size);
  report("parallel.context.size",
         absl::StrCat("tensor (", parallel.tensor, ") x ", parallel.context.size,
                      " ranks cannot share num_attention_heads (", config.model.numAttentionHeads, ", in ",
                      config.model.numKeyValueHeads, " groups), as method all_to_all asks. Works: ",
                      works.empty() ? "" : absl::StrCat(absl::StrJoin(works, ", "), ", or "),
                      "method gather."));
}

/// Stages that the ranks, the schedule and the layers agree on. The layers of a program are counted when it
/// is compiled.
void Checks::checkPipeline() {
  const PipelineConfig &pipeline = config.parallel.pipeline;
  std::optional<int64_t> layers;
  if (config.model.program.empty())
    layers = config.model.numHiddenLayers;
  if (absl::Status status = checkStages(pipeline, layers); !status.ok())
    report(stagesKey(pipeline), std::string(status.message()));
}

/// What the schedule of a pipeline asks of the microbatches of a step.
void Checks::checkMicrobatches() {
  const PipelineConfig &pipeline = config.parallel.pipeline;
  const schedules::ScheduleDemands *demands = schedules::findScheduleDemands(pipeline.schedule);
  if (pipeline.size == 1 || !demands || !checkStages(pipeline, std::nullopt).ok())
    return;
  const TrainConfig &train = config.train;
  const int64_t dataRanks = config.parallel.dataRanks(), each = train.globalBatch / dataRanks;
  const int64_t fewest = demands->fewestPerRank * pipeline.size;
  if (config.microBatches() >= fewest) {
    const schedules::ScheduleShape shape = {static_cast<int>(pipeline.size),
                                            static_cast<int>(config.microBatches()),
                                            static_cast<int>(stagesOfRank(pipeline).value_or(0))};
    if (absl::Status status = checkShape(*demands, shape); !status.ok())
      report("parallel.pipeline.schedule", absl::StrCat(std::string(status.message()), "."));
    return;
  }
  int64_t smaller = train.microBatch;
  while (smaller > 1 && (each % smaller != 0 || each / smaller < fewest))
    --smaller;
  report("parallel.pipeline.schedule",
         absl::StrCat(pipeline.schedule, " on ", pipeline.size, " ranks needs ", fewest,
                      " microbatches, and a step has ", config.microBatches(), " (train.global_batch ",
                      train.globalBatch, " / (micro_batch ", train.microBatch, " x ", dataRanks,
                      " data ranks)). Works: ",
                      each / smaller >= fewest ? absl::StrCat("train.micro_batch: ", smaller, ", ") : "",
                      "train.global_batch: ", fewest * train.microBatch * dataRanks,
                      " or more, or a schedule that takes any number, such as zb_v."));
}

/// The powers of two that divide a number, as a list: "1, 2 or 4".
static std::string listHalvings(int64_t number) {
  std::string list = "1";
  for (int64_t power = 2; number % power == 0; power *= 2)
    absl::StrAppend(&list, number % (power * 2) == 0 ? ", " : " or ", power);
  return list;
}

/// The canonical sum: each data rank has one subtree, of whole microbatches. False where one was reported
/// that says what the checks of batches would say.
bool Checks::checkReduction() {
  const TrainConfig &train = config.train;
  if (train.reduction != ReductionKind::Canonical)
    return true;
  const ParallelConfig &parallel = config.parallel;
  if (parallel.tensor > 1)
    report("train.reduction",
           absl::StrCat("canonical does not go with tensor (", parallel.tensor,
                        "): the products of a layer are then sums over its ranks, which fewer ranks round "
                        "otherwise. Works: parallel.tensor: 1, or fast."));
  if (parallel.context.size > 1)
    report("train.reduction",
           absl::StrCat(
               "canonical does not go with context.size (", parallel.context.size,
               "): gradients are then sums over its ranks, of parts of each sample, which one rank rounds "
               "otherwise. Works: parallel.context.size: 1, or fast."));
  const int64_t dataRanks = parallel.dataRanks();
  if (dataRanks < 1 || train.globalBatch % train.microBatch != 0)
    return true;
  const int64_t leaves = train.globalBatch / train.microBatch;
  const bool isPower = (dataRanks & (dataRanks - 1)) == 0;
  if (isPower && leaves % dataRanks == 0)
    return true;
  report("train.reduction",
         absl::StrCat(
             "canonical halves the ", leaves, " microbatches of a step (global_batch ", train.globalBatch,
             " / micro_batch ", train.microBatch, ") until each of ", dataRanks,
             " data ranks (data_replicate ", parallel.dataReplicate, " x data_shard ", parallel.dataShard,
             ") has a part, ", isPower ? "which gives no whole microbatches" : "which no power of two does",
             ". Works: ", listHalvings(leaves), " data ranks, ",
             isPower ? absl::StrCat("a global_batch of ",
                                    multiplesAround(train.globalBatch, dataRanks * train.microBatch), ", ")
                     : "",
             "or fast."));
  return false;
}

void Checks::checkBatches() {
  if (!checkReduction())
    return;
  const TrainConfig &train = config.train;
  const int64_t dataRanks = config.parallel.dataRanks();
  const int64_t each = train.globalBatch / std::max<int64_t>(dataRanks, 1);
  if (dataRanks > 1 && train.globalBatch % dataRanks != 0)
    report(origins.count("parallel.data_shard") ? "parallel.data_shard" : "parallel.data_replicate",
           absl::StrCat(dataRanks, " data ranks (data_replicate ", config.parallel.dataReplicate,
                        " x data_shard ", config.parallel.dataShard, ") do not divide train.global_batch (",
                        train.globalBatch, "). Works: ", listDivisors(train.globalBatch, dataRanks),
                        " data ranks, or a global_batch of ",
                        multiplesAround(train.globalBatch, dataRanks * train.microBatch), "."));
  else if (dataRanks > 1 && each % train.microBatch != 0)
    report("train.micro_batch",
           absl::StrCat(train.microBatch, " does not divide the ", each,
                        " samples of a data rank (global_batch ", train.globalBatch, " / ", dataRanks,
                        " data ranks). Works: ", listDivisors(each, train.microBatch), "."));
  else if (dataRanks == 1 && train.globalBatch % train.microBatch != 0)
    report("train.micro_batch",
           absl::StrCat(train.microBatch, " does not divide global_batch (", train.globalBatch,
                        "). Works: ", listDivisors(train.globalBatch, train.microBatch), "."));
  else if (dataRanks >= 1)
    checkMicrobatches();
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
  const char *const works = "the list is empty. Works: at least one {path: FILE}.";
  const std::vector<StageConfig> &stages = config.data.stages;
  if (stages.empty() && config.data.train.empty())
    report("data.train", works);
  for (size_t i = 0; i < stages.size(); ++i) {
    const std::string stage = absl::StrCat("data.stages[", i, "]");
    if (stages[i].train.empty())
      report(stage + ".train", works);
    const bool isLast = i + 1 == stages.size();
    if (isLast && stages[i].tokens != 0)
      report(stage + ".tokens",
             absl::StrCat(stages[i].tokens, " tokens of the last stage, which goes on to the "
                                            "end of the run. Works: leave it out, or add a stage."));
    else if (!isLast && stages[i].tokens == 0)
      report(stage + ".tokens", "is missing. Expected an integer: only the last stage goes on to the end of "
                                "the run.");
  }
}

void Checks::checkDump() {
  for (int64_t step : config.train.dump.steps)
    if (step > config.train.steps)
      report("train.dump.steps",
             absl::StrCat(step, " is over train.steps (", config.train.steps,
                          "): nothing would be written. Works: 1 to ", config.train.steps, "."));
}

/// Resolves a data_shard of -1. It stays where what is left is no whole number.
static void deriveDataShard(Config &config) {
  ParallelConfig &parallel = config.parallel;
  const int64_t others = ranksBesideDataShard(parallel);
  const int64_t ranks = config.launch.ranks.value_or(others);
  if (parallel.dataShard == -1 && ranks % others == 0)
    parallel.dataShard = ranks / others;
}

void deriveDefaults(Config &config, const std::map<std::string, Origin> &origins) {
  deriveDataShard(config);
  ModelConfig &model = config.model;
  if (!origins.count("model.num_key_value_heads"))
    model.numKeyValueHeads = model.numAttentionHeads;
  if (!origins.count("model.head_dim") && model.numAttentionHeads > 0)
    model.headDim = model.hiddenSize / model.numAttentionHeads;
  if (!origins.count("model.rope_scaling.original_max_position_embeddings"))
    model.ropeScaling.originalMaxPositionEmbeddings = model.maxPositionEmbeddings;
  if (!origins.count("model.layer_types"))
    model.layerTypes = patternOfLayers(model);
}

void checkAcrossKeys(const Config &config, const std::map<std::string, Origin> &origins,
                     const Origin &fallback, Diagnostics &diagnostics) {
  Checks checks(config, origins, fallback, diagnostics);
  if (config.model.program.empty()) {
    checks.checkModel();
    checks.checkLayerTypes();
    checks.checkRopeScaling();
  }
  checks.checkParallel();
  checks.checkBatches();
  checks.checkSchedule();
  checks.checkData();
  checks.checkDump();
}

} // namespace weft
