#include "tools/weft-trials/MeshCases.h"

#include "runtime/config/ConfigChecks.h"
#include "runtime/config/StageLayout.h"
#include "runtime/support/ScheduleShape.h"
#include "tools/weft-trials/Random.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <algorithm>
#include <array>

namespace weft::trials {
namespace {

constexpr int64_t kMostRanks = 16;
constexpr double kPipelineShare = 0.4;

struct SmallModel {
  const char *name;
  int64_t hidden, layers, heads, groups, headDimension, intermediate, vocabulary, sequence;
  bool isTied;
};

constexpr std::array<SmallModel, kMeshModels> kModels = {{
    {"query groups", 12, 2, 4, 2, 4, 20, 24, 8, false},
    {"tied embeddings", 10, 1, 6, 6, 2, 18, 21, 6, true},
    {"groups < tensor", 8, 1, 8, 2, 2, 17, 16, 8, false},
    {"odd vocabulary", 9, 1, 6, 3, 2, 13, 37, 6, false},
}};

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

/// Stages with borders anywhere, written out.
std::string drawLayout(Random &random, int64_t layers, int64_t stages) {
  // A border is before unit 1 or later: unit 0 is the embedding, the last one the head.
  std::set<int64_t> borders = {0, layers + 2};
  while (std::ssize(borders) <= stages)
    borders.insert(random.integer(1, layers + 1));
  StageLayout layout;
  for (auto next = std::next(borders.begin()); next != borders.end(); ++next) {
    int64_t begin = *std::prev(next), end = *next;
    bool hasEmbedding = begin == 0, hasHead = end == layers + 2;
    int64_t firstLayer = std::max<int64_t>(begin - 1, 0);
    layout.stages.push_back({firstLayer, std::min(end - 1, layers) - firstLayer, hasEmbedding, hasHead});
  }
  return layout.text();
}

/// A pipeline by any of the named schedules or by search, and layers enough for its stages.
PipelineConfig drawPipeline(Random &random, Config &config) {
  PipelineConfig pipeline;
  pipeline.size = random.choose({2, 4});
  pipeline.schedule = "auto";
  int64_t chunks = 1;
  const std::vector<schedules::ScheduleDemands> &all = schedules::scheduleDemands();
  int64_t number = random.integer(0, std::ssize(all));
  if (number < std::ssize(all)) {
    pipeline.schedule = all[static_cast<size_t>(number)].name;
    chunks = all[static_cast<size_t>(number)].chunks;
  }
  int64_t layout = random.integer(0, 2);
  // What takes another number of stages is told it by the layout.
  bool takesMore = pipeline.schedule == "auto" || (pipeline.schedule == "interleaved" && pipeline.size == 2);
  if (layout > 0 && takesMore)
    chunks += random.integer(0, 1);
  int64_t stages = chunks * pipeline.size;
  config.model.numHiddenLayers = std::max(config.model.numHiddenLayers, stages - 2) + random.integer(0, 1);
  if (layout == 1)
    pipeline.layout = absl::StrCat(stages);
  if (layout == 2)
    pipeline.layout = drawLayout(random, config.model.numHiddenLayers, stages);
  return pipeline;
}

/// From as few microbatches as the schedule allows, one where it can be, to twice the ranks.
int64_t drawMicroBatches(Random &random, const PipelineConfig &pipeline) {
  const schedules::ScheduleDemands *demands = schedules::findScheduleDemands(pipeline.schedule);
  int64_t fewest = demands ? demands->fewestPerRank * pipeline.size : 0;
  return random.integer(std::max<int64_t>(fewest, 1), 2 * pipeline.size);
}

void drawParallel(Random &random, const SmallModel &model, const PipelineConfig &pipeline, Config &config) {
  ParallelConfig &parallel = config.parallel;
  parallel = {};
  parallel.pipeline = pipeline;
  const int64_t mostRanks = kMostRanks / pipeline.size;
  parallel.tensor = drawDivisor(random, model.heads, mostRanks);
  parallel.sequence = parallel.tensor > 1 && model.sequence % parallel.tensor == 0 && random.chance(0.6);
  int64_t left = mostRanks / parallel.tensor;
  if (random.chance(0.6))
    drawContext(random, config, left);
  left /= parallel.context.size;
  parallel.dataShard = random.chance(0.75) ? random.integer(1, std::min<int64_t>(left, 8)) : 1;
  left /= parallel.dataShard;
  parallel.dataReplicate = random.chance(0.6) ? random.integer(1, std::min<int64_t>(left, 4)) : 1;
  parallel.zero = parallel.dataShard * parallel.context.size > 1 ? random.integer(0, 3) : 0;
}

} // namespace

MeshCase drawMeshCase(uint64_t seed, bool needsPipeline) {
  Random random(seed);
  const SmallModel &model = kModels[seed % kModels.size()];
  MeshCase item;
  item.model = model.name;
  Config &config = item.config;
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
  PipelineConfig pipeline;
  if (random.chance(kPipelineShare) || needsPipeline)
    pipeline = drawPipeline(random, config);
  do
    drawParallel(random, model, pipeline, config);
  while (config.parallel.ranks() == pipeline.size);
  int64_t microBatches = drawMicroBatches(random, pipeline);
  config.train.microBatch = random.integer(1, 2);
  config.train.globalBatch = config.train.microBatch * config.parallel.dataRanks() * microBatches;
  config.train.steps = 5;
  bool isAdam = random.chance(0.5);
  config.optimizer.kind = isAdam ? OptimizerKind::Adamw : OptimizerKind::Sgd;
  // Small enough that five steps do not amplify the rounding of the first.
  config.optimizer.lr = isAdam ? 0.01 : 0.3;
  config.optimizer.epsilon = 1e-3;
  if (random.chance(0.3))
    config.loss.labelSmoothing = 0.1, config.loss.zLoss = 1e-3;

  if (random.chance(0.35))
    item.attention.window = random.integer(1, model.sequence - 1);
  item.attention.packed = random.chance(0.35);
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
  note(item.attention.packed, "packed");
  note(item.attention.sinks, "sinks");
  note(microBatches > 1, "microbatches");
  note(isAdam, "adamw");
  note(config.loss.zLoss > 0, "z-loss");
  note(pipeline.size > 1, absl::StrCat("pipeline ", pipeline.size));
  if (pipeline.size > 1) {
    note(true, absl::StrCat("schedule ", pipeline.schedule));
    bool isNumber = absl::ascii_isdigit(static_cast<unsigned char>(pipeline.layout[0]));
    note(true, absl::StrCat("layout ", isNumber ? "number" : pipeline.layout == "auto" ? "auto" : "written"));
  }
  item.text = absl::StrCat(model.name, ", data_replicate ", parallel.dataReplicate, ", data_shard ",
                           parallel.dataShard, ", tensor ", parallel.tensor, ", context ",
                           parallel.context.size, ", pipeline ", pipeline.size, " (", pipeline.layout, ", ",
                           microBatches, " microbatches): ", absl::StrJoin(item.features, ", "));
  return item;
}

} // namespace weft::trials
