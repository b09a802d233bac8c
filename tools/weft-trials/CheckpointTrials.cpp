//===- CheckpointTrials.cpp - Every mesh loads what every other saved -----===//
//
// Each case is a small model on two random meshes. Its state, random in every variable, is saved from the
// first, in the background, of a copy: the variables themselves are overwritten at once, as a step would. The
// second mesh loads it and saves it again; the two checkpoints must hold the same bits in every tensor.
//
//===----------------------------------------------------------------------===//
#include "compiler/Compile.h"
#include "tools/weft-trials/MeshCases.h"
#include "tools/weft-trials/Random.h"
#include "tools/weft-trials/Report.h"
#include "tools/weft-trials/Trials.h"

#include "kernels/cpu/Cpu.h"
#include "runtime/checkpoint/CheckpointComparison.h"
#include "runtime/checkpoint/CheckpointFolders.h"
#include "runtime/train/CheckpointSaver.h"
#include "runtime/train/RunOnRanks.h"
#include "runtime/train/VariableState.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace weft::trials {
namespace {

/// What stands in memory that was never loaded.
constexpr std::byte kGarbage{0xA5};

/// A folder that goes away.
class Folder {
public:
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "weft-checkpoints-XXXXXX").string();
    if (::mkdtemp(pattern.data()) != nullptr)
      path = pattern;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::string path;
};

/// The two meshes of a case, and what it is called.
struct Pair {
  Config first, second;
  std::string model, text;
};

void useOneDevice(Config &config) {
  config.train.globalBatch = config.train.microBatch;
  config.parallel = ParallelConfig();
  config.parallel.dataShard = 1;
}

/// One model and optimizer on two meshes; now and then one of them is a single device.
Pair drawPair(uint64_t seed) {
  Random random(~seed);
  const MeshCase one = drawMeshCase(seed);
  const MeshCase other = drawMeshCase(seed + kMeshModels * static_cast<uint64_t>(random.integer(1, 1000000)));
  Pair pair{one.config, other.config, one.model, absl::StrCat(one.text, "\n  -> ", other.text)};
  pair.second.optimizer = pair.first.optimizer;
  const ModelConfig &a = one.config.model, &b = other.config.model;
  const ModelConfig deeper = a.numHiddenLayers > b.numHiddenLayers ? a : b;
  for (ModelConfig *model : {&pair.first.model, &pair.second.model}) {
    model->numHiddenLayers = deeper.numHiddenLayers;
    model->layerTypes = deeper.layerTypes;
  }
  constexpr int64_t many = 8;
  if (const int64_t which = random.integer(1, many); which <= 2) {
    useOneDevice(which == 1 ? pair.first : pair.second);
    absl::StrAppend(&pair.text, which == 1 ? "\n  the first" : "\n  the second", " is one device instead");
  }
  return pair;
}

/// Values that tell every element of every variable from all others.
void makeRandom(std::vector<Executable> &parts) {
  for (Executable &part : parts)
    for (Variable &variable : part.variables)
      variable.initializer = {InitializerKind::Normal, {0.5, 1000}};
}

void overwrite(const Executor &executor) {
  for (size_t i = 0; i < executor.executable().variables.size(); ++i)
    std::ranges::fill(executor.variable(i).bytes, kGarbage);
}

class CheckpointTrial {
public:
  explicit CheckpointTrial(const Options &options, std::string instructionSet)
      : options(options), instructionSet(std::move(instructionSet)),
        report("checkpoint", options.sabotage.empty() ? "" : " --sabotage " + options.sabotage) {}

  void run(uint64_t seed) {
    const Pair pair = drawPair(seed);
    report.beginCase(pair.model, seed);
    if (absl::Status status = compare(pair, seed); !status.ok())
      report.fail(absl::StrCat(pair.text, ": ", std::string(status.message())));
    report.endCase();
  }

  int close() const { return report.close(); }

private:
  absl::StatusOr<std::vector<Executable>> compile(const Config &config) const {
    CompileOptions compiling;
    compiling.target = {instructionSet};
    absl::StatusOr<Compiled> compiled = compileJob(config, "", compiling);
    if (!compiled.ok())
      return compiled.status();
    return std::move(compiled->parts);
  }

  absl::Status save(Communicator &communicator, const Executor &executor, const std::string &folder) const {
    CheckpointSaver::Options saving;
    saving.checkpoints = folder;
    CheckpointSaver saver(communicator, saving);
    checkpoint::CheckpointState state;
    state.step = 1;
    const int64_t rank = communicator.rank();
    absl::Status status = saver.begin(state, snapshotViews(executor, rank), [&executor, rank] {
      copyToSnapshot(executor, rank,
                     [](void *to, const void *from, size_t bytes) { std::memcpy(to, from, bytes); });
    });
    saver.awaitCopy();
    overwrite(executor);
    return status.ok() ? saver.finish() : status;
  }

  absl::Status compare(const Pair &pair, uint64_t seed) {
    absl::StatusOr<std::vector<Executable>> first = compile(pair.first), second = compile(pair.second);
    if (!first.ok() || !second.ok())
      return first.ok() ? second.status() : first.status();
    makeRandom(*first);
    const auto pool = std::make_shared<ThreadPool>(1);
    const Folder folder;
    const std::string before = folder.path + "/first", after = folder.path + "/second";
    absl::Status status =
        runOnRanks(*std::move(first), pool, [&](Executor &executor, Communicator &communicator) {
          initializeVariables(executor, seed, communicator.rank());
          return save(communicator, executor, before);
        });
    if (!status.ok())
      return status;
    absl::StatusOr<checkpoint::Checkpoint> saved = checkpoint::openCheckpoint(before + "/step-1");
    if (!saved.ok())
      return saved.status();
    if (status = checkSaved(*second, *saved); !status.ok())
      return status;
    status = runOnRanks(*std::move(second), pool, [&](Executor &executor, Communicator &communicator) {
      overwrite(executor);
      absl::Status restored = restoreVariables(executor, *saved, false, communicator.rank(), *pool).status();
      if (!restored.ok())
        return restored;
      if (options.sabotage == "element")
        executor.variable(size_t{0}).bytes.front() ^= std::byte{1};
      return save(communicator, executor, after);
    });
    if (!status.ok())
      return status;
    absl::StatusOr<checkpoint::Checkpoint> again = checkpoint::openCheckpoint(after + "/step-1");
    return again.ok() ? compareBits(*saved, *again, pair) : again.status();
  }

  absl::Status compareBits(const checkpoint::Checkpoint &saved, const checkpoint::Checkpoint &again,
                           const Pair &pair) {
    absl::StatusOr<std::vector<checkpoint::TensorComparison>> tensors = checkpoint::compareTensors(
        checkpoint::CheckpointTensors(saved), checkpoint::CheckpointTensors(again));
    if (!tensors.ok())
      return tensors.status();
    for (const checkpoint::TensorComparison &tensor : *tensors)
      report.compare("tensors", tensor.equal() ? 0 : 1, 0.5,
                     absl::StrCat(tensor.name, ": ", tensor.differing, " elements differ, of ", pair.text));
    report.elements(saved.tensorBytes());
    return absl::OkStatus();
  }

  const Options &options;
  std::string instructionSet;
  Report report;
};

} // namespace

int runCheckpointTrials(const Options &options) {
  if (!options.sabotage.empty() && options.sabotage != "element") {
    std::fprintf(stderr, "checkpoint: --sabotage takes element, not %s\n", options.sabotage.c_str());
    return 2;
  }
  absl::StatusOr<cpu::InstructionSet> set = cpu::useBestInstructionSet();
  if (!set.ok()) {
    std::fprintf(stderr, "checkpoint: %s\n", std::string(set.status().message()).c_str());
    return 1;
  }
  CheckpointTrial trial(options, std::string(cpu::name(*set)));
  Deadline deadline(options.minutes);
  for (int64_t index = 0; index < options.count && !deadline.passed(); ++index)
    trial.run(options.seed + static_cast<uint64_t>(index));
  return trial.close();
}

} // namespace weft::trials
