//===- SchemaRun.cpp - The keys around the training loop ------------------===//
//
// `launch`, `checkpoint`, `eval`, `metrics` and `generate`: none changes what is learned, so all may change
// on resume.
//
//===----------------------------------------------------------------------===//
#include "runtime/config/Schema.h"

namespace weft {

static void addLaunchKeys(std::vector<Key> &keys) {
  using Launch = LaunchConfig;
  keys.push_back(Key("launch.device", fieldOf<&Config::launch, &Launch::device>(), "What computes.")
                     .choice("cpu", "the processors of this machine")
                     .mayChange());
  keys.push_back(Key("launch.ranks", fieldOf<&Config::launch, &Launch::ranks>(),
                     "Ranks of the job; auto: as many processes as the launcher started, else the product of "
                     "the sizes in "
                     "parallel.")
                     .atLeast(1)
                     .atMost(65536)
                     .mayChange());
  keys.push_back(
      Key("launch.comm", fieldOf<&Config::launch, &Launch::comm>(), "What ranks are.")
          .choice("auto", "processes, where a launcher (mpirun, srun) started several, else threads")
          .choice("local", "threads of one process; the memory plan then has no room for what "
                           "processes send each other")
          .choice("mpi", "one process each, started by mpirun or srun")
          .mayChange());
  keys.push_back(Key("launch.check_collectives", fieldOf<&Config::launch, &Launch::checkCollectives>(),
                     "Whether processes tell each other what they call before they use what was sent, in a "
                     "message of 512 "
                     "bytes to each peer and collective: a mismatch is then an error with both sides. "
                     "Threads always do.")
                     .mayChange());
  keys.push_back(Key("launch.threads", fieldOf<&Config::launch, &Launch::threads>(),
                     "Threads that compute in each process, which all of its ranks share; auto: one for each "
                     "processor that the process may use, over the processes that may use it. Whatever "
                     "runs a program decides: executables do not depend on it, and no bit does.")
                     .atLeast(1)
                     .atMost(128)
                     .mayChange());
  keys.push_back(
      Key("launch.memory_limit", fieldOf<&Config::launch, &Launch::memoryLimit>(),
          "A larger memory plan, of all ranks of a machine together, is refused; auto: the limit of "
          "the control group, else the machine's memory.")
          .memorySize()
          .unit("bytes")
          .atLeast(1 << 20)
          .mayChange());
  keys.push_back(
      Key("launch.memory_per_rank", fieldOf<&Config::launch, &Launch::memoryPerRank>(),
          "What a rank has where it will run; a larger memory plan is refused. For a plan that is "
          "compiled on another machine than it runs on; auto: the rank's share of memory_limit, or "
          "no limit for more ranks than one machine runs.")
          .memorySize()
          .unit("bytes")
          .atLeast(1 << 20)
          .mayChange());
  keys.push_back(Key("launch.instruction_set", fieldOf<&Config::launch, &Launch::instructionSet>(),
                     "What kernels may use of the processor.")
                     .choice("auto", "all that this machine has")
                     .choice("avx2", "256-bit vectors")
                     .choice("avx512", "512-bit vectors")
                     .choice("avx512_bf16", "512-bit vectors and bfloat16 products")
                     .choice("amx_bf16", "512-bit vectors and bfloat16 products by tiles")
                     .mayChange("bits differ from an unchanged run"));
  keys.push_back(
      Key("launch.fusion", fieldOf<&Config::launch, &Launch::fusion>(),
          "How element-wise operations run. No bit depends on it.")
          .choice("generated", "regions of them as machine code, written for the instruction set")
          .choice("blocks", "the same regions operation by operation, on blocks that stay in the cache")
          .choice("off", "each by itself")
          .mayChange());
  auto addTimeout = [&](const std::string &phase, FieldBinding binding, std::string doc) {
    constexpr double least = 0.1, week = 604800;
    keys.push_back(Key("launch.timeout." + phase, binding, std::move(doc))
                       .unit("seconds")
                       .atLeast(least)
                       .atMost(week)
                       .mayChange());
  };
  addTimeout(
      "start", fieldOf<&Config::launch, &Launch::timeout, &TimeoutConfig::start>(),
      "How long a rank waits in one collective before the first step, while rank 0 compiles and prepares "
      "data. Ranks that have not come by then are lost: every other one names them and the job ends.");
  addTimeout("step", fieldOf<&Config::launch, &Launch::timeout, &TimeoutConfig::step>(),
             "The same in a step or an evaluation: more than the slowest one takes.");
  addTimeout("save", fieldOf<&Config::launch, &Launch::timeout, &TimeoutConfig::save>(),
             "The same in a save: more than the slowest rank takes to write its part.");
}

static void addReportKeys(std::vector<Key> &keys) {
  auto add = [&](std::string path, FieldBinding binding, std::string doc) -> Key & {
    return keys.emplace_back(std::move(path), binding, std::move(doc)).mayChange();
  };
  auto addInterval = [&](std::string path, FieldBinding binding, std::string doc) -> Key & {
    return add(std::move(path), binding, std::move(doc)).unit("steps").atLeast(0).atMost(2147483647);
  };
  addInterval("checkpoint.interval", fieldOf<&Config::checkpoint, &CheckpointConfig::interval>(),
              "Steps from one checkpoint to the next; 0: only after the last step, which is always saved.");
  add("checkpoint.keep_latest", fieldOf<&Config::checkpoint, &CheckpointConfig::keepLatest>(),
      "Older checkpoints than this many are deleted after a save.")
      .unit("checkpoints")
      .atLeast(1)
      .atMost(1000000);
  add("checkpoint.initial_load_path", fieldOf<&Config::checkpoint, &CheckpointConfig::initialLoadPath>(),
      "What the parameters of a new run come from: a checkpoint of weft, a run's folder (its latest), or a "
      "Hugging Face folder. The optimizer starts anew. A run that resumes does not read it.")
      .filePath();
  addInterval("checkpoint.keep_every", fieldOf<&Config::checkpoint, &CheckpointConfig::keepEvery>(),
              "Checkpoints whose step is a multiple of this are never deleted; 0: none for that.");
  add("checkpoint.asynchronous", fieldOf<&Config::checkpoint, &CheckpointConfig::asynchronous>(),
      "Whether training goes on while a checkpoint is written, from a copy of the variables. The memory of "
      "the copy is a row of the plan, `snapshot`; the next step's update waits until it is made, and the "
      "next "
      "save until this one is whole. The last step's save is waited for, and takes no copy.");
  addInterval("eval.interval", fieldOf<&Config::eval, &EvalConfig::interval>(),
              "Steps from one evaluation to the next; 0: only after the last step.")
      .usedWithPositive("data.validation_fraction");
  add("eval.batches", fieldOf<&Config::eval, &EvalConfig::batches>(),
      "Held-out batches of train.global_batch samples that are averaged.")
      .usedWithPositive("data.validation_fraction")
      .unit("batches")
      .atLeast(1)
      .atMost(1000000);
  addInterval("metrics.interval", fieldOf<&Config::metrics, &MetricsConfig::interval>(),
              "Steps from one line of metrics to the next.")
      .atLeast(1);
  add("metrics.tensorboard", fieldOf<&Config::metrics, &MetricsConfig::tensorboard>(),
      "Whether metrics are also written as TensorBoard events.");
  addInterval("metrics.per_parameter", fieldOf<&Config::metrics, &MetricsConfig::perParameter>(),
              "Steps from one line with the gradient, weight and update norm of each parameter to the next; "
              "0: none.");
}

static void addGenerateKeys(std::vector<Key> &keys) {
  using Generate = GenerateConfig;
  auto add = [&](const std::string &name, FieldBinding binding, std::string doc) -> Key & {
    return keys.emplace_back("generate." + name, binding, std::move(doc)).mayChange();
  };
  add("max_tokens", fieldOf<&Config::generate, &Generate::maxTokens>(), "Tokens to sample.")
      .unit("tokens")
      .atLeast(1)
      .atMost(1 << 24);
  add("temperature", fieldOf<&Config::generate, &Generate::temperature>(),
      "Logits are divided by it; 0: always the likeliest token.")
      .atLeast(0)
      .atMost(1000);
  add("top_k", fieldOf<&Config::generate, &Generate::topK>(),
      "Only the k likeliest tokens are sampled; 0: all.")
      .usedWithPositive("generate.temperature")
      .unit("tokens")
      .atLeast(0)
      .atMost(1 << 24);
  add("top_p", fieldOf<&Config::generate, &Generate::topP>(),
      "Of those, only the fewest likeliest tokens are sampled that have this share of the probability; 1: "
      "all.")
      .usedWithPositive("generate.temperature")
      .atLeast(0)
      .atMost(1);
  add("seed", fieldOf<&Config::generate, &Generate::seed>(), "Seed of the sampling.")
      .usedWithPositive("generate.temperature")
      .atLeast(0)
      .atMost(9007199254740992);
  add("prompt", fieldOf<&Config::generate, &Generate::prompt>(), "The text that is continued.");
}

std::vector<Key> runKeys() {
  std::vector<Key> keys;
  addLaunchKeys(keys);
  addReportKeys(keys);
  addGenerateKeys(keys);
  return keys;
}

} // namespace weft
