#include "tools/weft-trials/MeshCases.h"

#include "runtime/config/ConfigChecks.h"
#include "runtime/config/ModelFamilies.h"
#include "runtime/config/StageLayout.h"
#include "runtime/support/ScheduleShape.h"
#include "tools/weft-trials/Random.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <array>

namespace weft::trials {
namespace {

/// Of a stage; beside a pipeline half of them.
constexpr int64_t kMostRanks = 16;

struct SmallModel {
  const char *name;
  ModelFamily family;
  int64_t hidden, layers, heads, groups, headDimension, intermediate, vocabulary, sequence;
  bool isTied;
};

constexpr std::array<SmallModel, kMeshModels> kModels = {{
    {"query groups", ModelFamily::Llama, 12, 2, 4, 2, 4, 20, 24, 8, false},
    {"tied embeddings", ModelFamily::Llama, 10, 1, 6, 6, 2, 18, 21, 6, true},
    {"groups < tensor", ModelFamily::Llama, 8, 1, 8, 2, 2, 17, 16, 8, false},
    {"odd vocabulary", ModelFamily::Llama, 9, 1, 6, 3, 2, 13, 37, 6, false},
    {"mistral", ModelFamily::Mistral, 12, 2, 4, 2, 4, 17, 24, 8, false},
    {"qwen2", ModelFamily::Qwen2, 10, 2, 6, 3, 2, 18, 21, 6, true},
    {"qwen3", ModelFamily::Qwen3, 9, 2, 4, 2, 4, 20, 24, 8, false},
    {"gemma2", ModelFamily::Gemma2, 10, 2, 4, 2, 4, 17, 21, 8, true},
    {"gemma3", ModelFamily::Gemma3Text, 9, 2, 4, 2, 4, 18, 23, 8, true},
    {"olmo2", ModelFamily::Olmo2, 12, 1, 6, 3, 2, 20, 24, 6, false},
    {"gpt2", ModelFamily::Gpt2, 12, 1, 4, 4, 3, 17, 21, 8, true},
}};

/// What the family has beside sizes, all of it on.
void turnFeaturesOn(ModelConfig &model) {
  const FamilyTraits &family = traitsOf(model.family);
  model.useSlidingWindow = family.takes("use_sliding_window");
  model.maxWindowLayers = 1;
  model.slidingWindowPattern = 2;
  if (family.takes("sliding_window"))
    model.slidingWindow = 3;
  model.layerTypes = patternOfLayers(model);
  model.attentionBias = family.family != ModelFamily::Llama && family.takes("attention_bias");
  model.ropeLocalBaseFreq = 50.0;
  model.queryPreAttnScalar = 6.0;
  if (family.takes("attn_logit_softcapping"))
    model.attnLogitSoftcapping = 5.0;
  if (family.takes("final_logit_softcapping"))
    model.finalLogitSoftcapping = 8.0;
  if (family.takes("resid_pdrop"))
    model.embdPdrop = 0.1, model.residPdrop = 0.2;
}

/// A number of ranks that divides `most` and is at most `limit`.
int64_t drawDivisor(Random &random, int64_t most, int64_t limit) {
  std::vector<int64_t> works;
  for (int64_t size = 1; size <= std::min(most, limit); ++size)
    if (most % size == 0)
      works.push_back(size);
  return random.chooseFrom(works);
}

/// One of the methods and sizes that this sequence and these heads allow; none, and context stays as it is.
void drawContext(Random &random, Config &config, int64_t mostRanks) {
  std::vector<ContextConfig> works;
  for (int64_t size = 2; size <= mostRanks; ++size)
    for (ContextMethod method : {ContextMethod::Gather, ContextMethod::AllToAll, ContextMethod::Ring}) {
      ParallelConfig parallel = config.parallel;
      parallel.context = {size, method};
      bool shares = method != ContextMethod::AllToAll || headsAreShared(config.model, parallel.tensor, size);
      if (shares && config.data.sequenceLength % parallel.sequenceUnit() == 0)
        works.push_back(parallel.context);
    }
  if (!works.empty())
    config.parallel.context = random.chooseFrom(works);
}

/// Some pipelines need more layers than the small model has.
void drawPipeline(Random &random, const SmallModel &model, Config &config) {
  config.model.numHiddenLayers = model.layers;
  if (random.chance(0.5))
    return;
  PipelineConfig &pipeline = config.parallel.pipeline;
  pipeline.size = random.integer(2, 4);
  const auto &all = schedules::scheduleDemands();
  const int64_t which = random.integer(0, std::ssize(all));
  pipeline.schedule = which == std::ssize(all) ? "auto" : std::string(all[which].name);
  const int64_t stages = pipeline.size * *stagesOfRank(pipeline);
  config.model.numHiddenLayers = std::max(model.layers, stages - 2 + random.integer(0, 1));
  if (random.chance(0.5))
    pipeline.layout = std::to_string(stages);
}

/// At least what the schedule of a pipeline asks for.
int64_t drawMicrobatches(Random &random, const PipelineConfig &pipeline) {
  if (pipeline.size == 1)
    return random.integer(1, 2);
  const schedules::ScheduleDemands *demands = schedules::findScheduleDemands(pipeline.schedule);
  const int64_t fewest = demands ? demands->fewestPerRank * pipeline.size : 0;
  return std::max(fewest, random.integer(1, 2 * pipeline.size + 1));
}

void drawParallel(Random &random, const SmallModel &model, Config &config) {
  ParallelConfig &parallel = config.parallel;
  parallel = {};
  drawPipeline(random, model, config);
  int64_t left = parallel.pipeline.size > 1 ? kMostRanks / 2 : kMostRanks;
  parallel.tensor = drawDivisor(random, model.heads, left);
  parallel.sequence = parallel.tensor > 1 && model.sequence % parallel.tensor == 0 && random.chance(0.6);
  left /= parallel.tensor;
  if (random.chance(0.6))
    drawContext(random, config, left);
  left /= parallel.context.size;
  parallel.dataShard = random.chance(0.75) ? random.integer(1, std::min<int64_t>(left, 8)) : 1;
  left /= parallel.dataShard;
  parallel.dataReplicate = random.chance(0.6) ? random.integer(1, std::min<int64_t>(left, 4)) : 1;
  parallel.zero = parallel.dataShard * parallel.context.size > 1 ? random.integer(0, 3) : 0;
}

} // namespace

MeshCase drawMeshCase(uint64_t seed) {
  Random random(seed);
  const SmallModel &model = kModels[seed % kModels.size()];
  MeshCase item;
  item.model = model.name;
  Config &config = item.config;
  config.model.family = model.family;
  config.model.hiddenSize = model.hidden;
  config.model.numHiddenLayers = model.layers;
  config.model.numAttentionHeads = model.heads;
  config.model.numKeyValueHeads = model.groups;
  config.model.headDim = model.headDimension;
  config.model.intermediateSize = model.intermediate;
  config.model.vocabSize = model.vocabulary;
  config.model.maxPositionEmbeddings = model.sequence;
  config.model.tieWordEmbeddings = model.isTied;
  config.model.initializerRange = 0.3;
  config.data.sequenceLength = model.sequence;
  do
    drawParallel(random, model, config);
  while (config.parallel.ranks() == 1);
  turnFeaturesOn(config.model);
  int64_t microBatches = drawMicrobatches(random, config.parallel.pipeline);
  config.train.microBatch = random.integer(1, 2);
  config.train.globalBatch = config.train.microBatch * config.parallel.dataRanks() * microBatches;
  config.train.steps = 5;
  bool isAdam = random.chance(0.5);
  config.optimizer.kind = isAdam ? OptimizerKind::Adamw : OptimizerKind::Sgd;
  // Small enough that five steps do not amplify the rounding of the first, which deeper models do more.
  const double depth = static_cast<double>(config.model.numHiddenLayers) / static_cast<double>(model.layers);
  config.optimizer.lr = (isAdam ? 0.01 : 0.3) / depth;
  config.optimizer.epsilon = 1e-3;
  if (random.chance(0.3))
    config.loss.labelSmoothing = 0.1, config.loss.zLoss = 1e-3;

  if (random.chance(0.35))
    item.attention.window = random.integer(1, model.sequence - 1);
  if (random.chance(0.35))
    config.data.packing = Packing::Documents;
  item.attention.sinks = random.chance(0.35);

  const ParallelConfig &parallel = config.parallel;
  auto note = [&](bool has, const std::string &feature) {
    if (has)
      item.features.insert(feature);
  };
  note(parallel.dataReplicate > 1, "replicate");
  note(parallel.dataShard > 1, "shard");
  note(parallel.zero > 0, absl::StrCat("zero ", parallel.zero));
  note(parallel.tensor > 1, "tensor");
  note(parallel.sequence, "sequence");
  note(parallel.context.size > 1 && parallel.context.method == ContextMethod::Gather, "context gather");
  note(parallel.context.size > 1 && parallel.context.method == ContextMethod::AllToAll, "context a-to-a");
  note(parallel.context.size > 1 && parallel.context.method == ContextMethod::Ring, "context ring");
  note(item.attention.window > 0, "window");
  note(config.data.hasSegments(), "packed");
  note(item.attention.sinks, "sinks");
  note(microBatches > 1, "microbatches");
  if (parallel.pipeline.size > 1) {
    const bool isSplit = parallel.pipeline.schedule != "gpipe" && parallel.pipeline.schedule != "1f1b" &&
                         parallel.pipeline.schedule != "interleaved";
    note(true, isSplit ? "pipeline B W" : "pipeline BW");
    note(*stagesOfRank(parallel.pipeline) > 1, "two stages");
  }
  note(isAdam, "adamw");
  note(config.loss.zLoss > 0, "z-loss");
  item.text = absl::StrCat(model.name, ", data_replicate ", parallel.dataReplicate, ", data_shard ",
                           parallel.dataShard, ", tensor ", parallel.tensor, ", context ",
                           parallel.context.size, ", pipeline ", parallel.pipeline.size,
                           parallel.pipeline.size > 1
                               ? absl::StrCat(" (", parallel.pipeline.schedule, ", layout ",
                                              parallel.pipeline.layout, ", ", microBatches, " microbatches)")
                               : "",
                           ": ", absl::StrJoin(item.features, ", "));
  return item;
}

} // namespace weft::trials
