//===- Config.h - A run, as plain data ------------------------------------===//
//
// The typed form of a run file after everything is resolved: defaults filled in, paths absolute, derived
// sizes computed, every value checked against its range and against the others. The initializers here are the
// defaults of the schema (Schema.h), which says what each key means; a section is a struct, a key a member.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_CONFIG_CONFIG_H
#define WEFT_RUNTIME_CONFIG_CONFIG_H

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weft {

/// The version of the schema; a resolved config names it.
inline constexpr int configVersion = 1;

enum class ModelFamily : int { Llama, Mistral, Qwen2, Qwen3, Gemma2, Gemma3Text, Olmo2, Gpt2 };
enum class HiddenAct : int { Silu, Gelu, GeluPytorchTanh, Relu };
enum class RopeType : int { Default, Linear, Llama3, Yarn };

/// How rotary frequencies are changed for contexts longer than those of the pretraining. The formulas are
/// those of Hugging Face transformers; which member belongs to which type is in the schema.
struct RopeScalingConfig {
  RopeType ropeType = RopeType::Default;
  double factor = 1.0;
  /// Derived: ModelConfig::maxPositionEmbeddings.
  int64_t originalMaxPositionEmbeddings = 0;
  double lowFreqFactor = 1.0;
  double highFreqFactor = 4.0;
  double betaFast = 32.0;
  double betaSlow = 1.0;
  /// The factor on cos and sin of yarn. Unset: m(mscale) / m(mscaleAllDim) when both are set, else m(1),
  /// where m(x) = 0.1 x ln(factor) + 1 for a factor over 1, else 1.
  std::optional<double> attentionFactor;
  std::optional<double> mscale;
  std::optional<double> mscaleAllDim;
  bool truncate = true;

  bool operator==(const RopeScalingConfig &) const = default;
};

/// The values of ModelConfig::layerTypes.
inline constexpr char fullLayerType[] = "full_attention";
inline constexpr char slidingLayerType[] = "sliding_attention";

/// Either a program written by hand (`program` is not empty; nothing else here counts), or a family and its
/// sizes.
struct ModelConfig {
  /// Absolute path of an .mlir file, or empty.
  std::string program;
  ModelFamily family = ModelFamily::Llama;
  int64_t hiddenSize = 0;
  int64_t numHiddenLayers = 0;
  int64_t numAttentionHeads = 0;
  /// Derived: numAttentionHeads.
  int64_t numKeyValueHeads = 0;
  /// Derived: hiddenSize / numAttentionHeads.
  int64_t headDim = 0;
  int64_t intermediateSize = 0;
  int64_t vocabSize = 0;
  int64_t maxPositionEmbeddings = 2048;
  double rmsNormEps = 1e-6;
  double ropeTheta = 10000.0;
  RopeScalingConfig ropeScaling;
  bool tieWordEmbeddings = false;
  bool attentionBias = false;
  bool mlpBias = false;
  /// The keys that a query of a sliding layer sees, its own included; 0: all before it.
  int64_t slidingWindow = 0;
  bool useSlidingWindow = false;
  int64_t maxWindowLayers = 28;
  /// One of `full_attention` and `sliding_attention` for each layer. Derived where layers differ; empty where
  /// all slide if there is a window.
  std::vector<std::string> layerTypes;
  /// One layer of so many is full, where layerTypes is derived from it.
  int64_t slidingWindowPattern = 6;
  /// The base of rotary frequencies in sliding layers that have tables of their own.
  double ropeLocalBaseFreq = 10000.0;
  /// Attention scores are multiplied by its inverse square root.
  double queryPreAttnScalar = 256.0;
  /// The caps of cap tanh(x / cap) on attention scores and on logits; 0: none.
  double attnLogitSoftcapping = 0.0;
  double finalLogitSoftcapping = 0.0;
  double layerNormEpsilon = 1e-5;
  /// Probabilities of dropout, while training, behind the embeddings and on each residual branch.
  double embdPdrop = 0.0;
  double residPdrop = 0.0;
  bool scaleAttnWeights = true;
  bool scaleAttnByInverseLayerIdx = false;
  HiddenAct hiddenAct = HiddenAct::Silu;
  /// Standard deviation of initial weights.
  double initializerRange = 0.02;
  /// Probability that an attention weight is dropped while training.
  double attentionDropout = 0.0;

  /// Whether attention of a layer sees the sliding window alone.
  bool isSliding(int64_t layer) const {
    return layerTypes.empty() ? slidingWindow > 0
                              : layerTypes[static_cast<size_t>(layer)] == slidingLayerType;
  }
  /// The keys that a query of this layer sees, its own included; 0: all before it.
  int64_t layerWindow(int64_t layer) const { return isSliding(layer) ? slidingWindow : 0; }

  bool operator==(const ModelConfig &) const = default;
};

enum class TokenizerKind : int { Bytes };

struct SpecialTokenConfig {
  std::string token;
  int64_t id = 0;

  bool operator==(const SpecialTokenConfig &) const = default;
};

struct TokenizerConfig {
  /// Of a tokenizer without a file.
  TokenizerKind kind = TokenizerKind::Bytes;
  /// Absolute path of a trained tokenizer; empty: none.
  std::string file;
  /// What the file cannot say: a regular expression or the name of a well-known one, further tokens, and
  /// which token ends a document.
  std::string pattern;
  std::vector<SpecialTokenConfig> specialTokens;
  std::string endOfDocument;

  bool operator==(const TokenizerConfig &) const = default;
};

struct DataSource {
  /// Absolute path of a text file, JSONL file, folder, or the prefix of a prepared data set.
  std::string path;
  double weight = 1.0;

  bool operator==(const DataSource &) const = default;
};

/// A part of the run that mixes sources of its own.
struct StageConfig {
  /// Of the run, before the next stage; 0: this one is the last.
  int64_t tokens = 0;
  std::vector<DataSource> train;

  bool operator==(const StageConfig &) const = default;
};

/// How documents become samples.
enum class Packing : int { Split, Documents, BestFit, Pad };

struct DataConfig {
  /// Either this or `stages`.
  std::vector<DataSource> train;
  std::vector<StageConfig> stages;
  double validationFraction = 0.01;
  /// Tokens of one sample.
  int64_t sequenceLength = 0;
  Packing packing = Packing::Split;

  /// Whether samples say which document a token is of: programs then take `segments` and `positions`.
  bool hasSegments() const { return packing != Packing::Split; }

  bool operator==(const DataConfig &) const = default;
};

/// How attention sees the positions of other ranks.
enum class ContextMethod : int { Gather, AllToAll, Ring };

/// Ranks that share the positions of each sample.
struct ContextConfig {
  int64_t size = 1;
  ContextMethod method = ContextMethod::Gather;

  /// Whether causal work is balanced: a rank has an early and a late chunk of the positions.
  bool zigzag() const { return size > 1 && method != ContextMethod::AllToAll; }

  bool operator==(const ContextConfig &) const = default;
};

/// Ranks that have parts of the model each, and pass microbatches on.
struct PipelineConfig {
  int64_t size = 1;
  /// A schedule of the literature (runtime/support/ScheduleShape.h), `auto`, or `file:` and an absolute path.
  std::string schedule = "1f1b";
  /// `auto`, a number of stages, or stages written out (StageLayout.h).
  std::string layout = "auto";

  bool operator==(const PipelineConfig &) const = default;
};

/// How many ranks share the work along each direction of the mesh, and what they share.
struct ParallelConfig {
  /// Ranks that read samples of their own and hold parameters and state as every other one does.
  int64_t dataReplicate = 1;
  /// Ranks that read samples of their own and share, by `zero`, what they hold. A file may say -1: what
  /// launch.ranks leaves; loading resolves it.
  int64_t dataShard = 1;
  /// What data_shard x context ranks share. 0: nothing, 1: optimizer state, 2: gradients too, 3: parameters
  /// too.
  int64_t zero = 0;
  /// Ranks that share each product of a layer.
  int64_t tensor = 1;
  /// Whether the ranks of `tensor` also share the sequence between products.
  bool sequence = false;
  ContextConfig context;
  PipelineConfig pipeline;

  /// Ranks that read samples of their own; those of a pipeline read the same ones.
  int64_t dataRanks() const { return dataReplicate * dataShard; }
  int64_t ranks() const { return dataRanks() * context.size * tensor * pipeline.size; }
  /// What divides the length of a sequence: the parts that it is cut into between layers, of two chunks each
  /// in zigzag.
  int64_t sequenceUnit() const { return context.size * (sequence ? tensor : 1) * (context.zigzag() ? 2 : 1); }

  bool operator==(const ParallelConfig &) const = default;
};

enum class PrecisionRecipe : int { Fp32, Bf16, Fp16 };

/// Dynamic loss scaling of the fp16 recipe.
struct LossScaleConfig {
  double initial = 65536.0;
  double growthFactor = 2.0;
  double backoffFactor = 0.5;
  /// Finite steps in a row before the scale grows.
  int64_t growthInterval = 2000;

  bool operator==(const LossScaleConfig &) const = default;
};

struct PrecisionConfig {
  PrecisionRecipe recipe = PrecisionRecipe::Fp32;
  LossScaleConfig lossScale;

  bool operator==(const PrecisionConfig &) const = default;
};

enum class OptimizerKind : int { Adamw, Sgd, Lion };

/// Parameters whose checkpoint name matches get a rate and decay of their own. The first matching group
/// counts.
struct ParameterGroup {
  /// A shell pattern (fnmatch without flags) over checkpoint names.
  std::string match;
  double lrScale = 1.0;
  /// Unset: OptimizerConfig::weightDecay, under its rules.
  std::optional<double> weightDecay;

  bool operator==(const ParameterGroup &) const = default;
};

struct OptimizerConfig {
  OptimizerKind kind = OptimizerKind::Adamw;
  double lr = 0.0;
  std::array<double, 2> betas = {0.9, 0.95};
  double epsilon = 1e-8;
  double weightDecay = 0.1;
  double momentum = 0.9;
  /// Global norm to clip at; 0: no clipping.
  double clipGradNorm = 1.0;
  /// Shell patterns of parameters that do not decay, besides all one-dimensional ones.
  std::vector<std::string> noDecay;
  std::vector<ParameterGroup> groups;

  bool operator==(const OptimizerConfig &) const = default;
};

enum class LrScheduleKind : int { Constant, Linear, Cosine, Wsd, InverseSqrt };

struct LrScheduleConfig {
  LrScheduleKind kind = LrScheduleKind::Constant;
  int64_t warmupSteps = 0;
  /// The last learning rate over the highest.
  double minLrRatio = 0.0;
  /// Steps of the final decay of wsd.
  int64_t decaySteps = 0;

  bool operator==(const LrScheduleConfig &) const = default;
};

struct LossConfig {
  double labelSmoothing = 0.0;
  double zLoss = 0.0;

  bool operator==(const LossConfig &) const = default;
};

enum class ReductionKind : int { Fast, Canonical };
enum class OnNonfinite : int { Skip, Stop, Report };
enum class OnSpike : int { Report, Stop };

struct SpikeConfig {
  /// A loss over this multiple of the mean of the last `window` losses is a spike; 0: not looked for.
  double factor = 0.0;
  int64_t window = 100;
  OnSpike action = OnSpike::Report;

  bool operator==(const SpikeConfig &) const = default;
};

struct DumpConfig {
  /// Steps (counted from 1) whose named values are written.
  std::vector<int64_t> steps;
  /// Shell patterns of the names to write.
  std::vector<std::string> match = {"*"};

  bool operator==(const DumpConfig &) const = default;
};

struct TrainConfig {
  int64_t steps = 0;
  /// Samples, on each data rank.
  int64_t microBatch = 0;
  /// Samples, on all data ranks together.
  int64_t globalBatch = 0;
  int64_t seed = 1;
  ReductionKind reduction = ReductionKind::Fast;
  OnNonfinite onNonfinite = OnNonfinite::Skip;
  SpikeConfig spike;
  DumpConfig dump;

  bool operator==(const TrainConfig &) const = default;
};

enum class DeviceKind : int { Cpu };
enum class CommKind : int { Auto, Local, Mpi };
enum class InstructionSetChoice : int { Auto, Avx2, Avx512, Avx512Bf16, AmxBf16 };
enum class FusionKind : int { Generated, Blocks, Off };

/// Seconds that a rank waits in one collective before it takes those that have not come for lost.
struct TimeoutConfig {
  double start = 1800;
  double step = 600;
  double save = 1800;

  bool operator==(const TimeoutConfig &) const = default;
};

struct LaunchConfig {
  DeviceKind device = DeviceKind::Cpu;
  CommKind comm = CommKind::Auto;
  /// Whether processes tell each other what they call.
  bool checkCollectives = true;
  /// Unset: ParallelConfig::ranks(), which it equals when it is set.
  std::optional<int64_t> ranks;
  /// Of each rank. Unset: the affinity mask of the process over the ranks, at least 1.
  std::optional<int64_t> threads;
  /// Bytes of all ranks of this machine; unset: the limit of the control group or the memory of the machine.
  std::optional<int64_t> memoryLimit;
  /// Bytes of each rank, wherever it is; unset: its share of memoryLimit.
  std::optional<int64_t> memoryPerRank;
  InstructionSetChoice instructionSet = InstructionSetChoice::Auto;
  /// How element-wise operations run. No bit depends on it.
  FusionKind fusion = FusionKind::Generated;
  TimeoutConfig timeout;

  bool operator==(const LaunchConfig &) const = default;
};

struct CheckpointConfig {
  /// Steps between checkpoints; 0: only after the last step.
  int64_t interval = 100;
  int64_t keepLatest = 3;
  /// Absolute path of what a new run's parameters come from, or empty.
  std::string initialLoadPath;
  /// Checkpoints whose step is a multiple of it stay; 0: none for that.
  int64_t keepEvery = 0;
  /// Whether training goes on while a snapshot is written.
  bool asynchronous = true;

  /// Whether a run saves anything that training does not wait for anyway, as for the last step.
  bool takesSnapshots() const { return asynchronous && interval > 0; }

  bool operator==(const CheckpointConfig &) const = default;
};

struct EvalConfig {
  /// Steps between evaluations; 0: only after the last step.
  int64_t interval = 100;
  /// Global batches of held-out data per evaluation.
  int64_t batches = 10;

  bool operator==(const EvalConfig &) const = default;
};

struct MetricsConfig {
  /// Steps between lines.
  int64_t interval = 1;
  bool tensorboard = true;
  /// Steps between lines with the norms of each parameter; 0: none.
  int64_t perParameter = 0;

  bool operator==(const MetricsConfig &) const = default;
};

struct GenerateConfig {
  int64_t maxTokens = 200;
  /// 0: always the likeliest token.
  double temperature = 1.0;
  /// 0: all tokens.
  int64_t topK = 0;
  /// 1: all tokens.
  double topP = 1.0;
  int64_t seed = 1;
  std::string prompt;

  bool operator==(const GenerateConfig &) const = default;
};

struct Config {
  ModelConfig model;
  TokenizerConfig tokenizer;
  DataConfig data;
  ParallelConfig parallel;
  PrecisionConfig precision;
  OptimizerConfig optimizer;
  LrScheduleConfig lrSchedule;
  LossConfig loss;
  TrainConfig train;
  LaunchConfig launch;
  CheckpointConfig checkpoint;
  EvalConfig eval;
  MetricsConfig metrics;
  GenerateConfig generate;

  /// Microbatches of a step on each data rank.
  int64_t microBatches() const { return train.globalBatch / (train.microBatch * parallel.dataRanks()); }

  bool operator==(const Config &) const = default;
};

} // namespace weft

#endif // WEFT_RUNTIME_CONFIG_CONFIG_H
