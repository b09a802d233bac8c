//===- ShardsTest.cpp - The same variables on every mesh ------------------===//
//
// A rank's part has the bits of the whole tensor's slice: when a run begins, and when it goes on from what
// any other mesh has saved. A save of several ranks is whole or absent, like that of one.
//
//===----------------------------------------------------------------------===//
#include "ShardedVariables.h"

#include "runtime/checkpoint/CheckpointFolders.h"
#include "runtime/support/ExitCode.h"
#include "runtime/train/CheckpointSaver.h"
#include "runtime/train/ParameterNorms.h"
#include "runtime/train/RunOnRanks.h"
#include "runtime/train/VariableState.h"
#include "tests/unit/checkpoint/TestSupport.h"
#include "tests/unit/comm/RankHarness.h"

#include <gmock/gmock.h>

#include <atomic>
#include <csignal>
#include <sys/wait.h>

namespace weft {
namespace {

using checkpoint::Checkpoint;
using checkpoint::FaultySystem;
using ::testing::HasSubstr;
using testing::shardedVariables;
using Bytes = std::vector<std::byte>;

constexpr uint64_t kSeed = 7;

/// The bytes of each whole variable after initialization on one rank.
std::vector<Bytes> wholeValues() {
  std::vector<Bytes> values;
  absl::Status status = runOnRanks(testing::shardedParts({}), 1, [&](Executor &executor, Communicator &) {
    initializeVariables(executor, kSeed);
    for (size_t i = 0; i < shardedVariables().size(); ++i)
      values.emplace_back(executor.variable(i).bytes.begin(), executor.variable(i).bytes.end());
    return absl::OkStatus();
  });
  EXPECT_EQ(status, absl::OkStatus());
  return values;
}

/// Whether every variable of a rank is the slice of the whole one, and zero behind it.
absl::Status checkParts(const Executor &executor, int64_t rank, const std::vector<Bytes> &whole) {
  const Mesh &mesh = executor.executable().mesh;
  for (size_t i = 0; i < shardedVariables().size(); ++i) {
    const testing::ShardedVariable &variable = shardedVariables()[i];
    absl::StatusOr<HostTensor> held = executor.variable(variable.name);
    if (held.ok() != testing::isHeld(variable, mesh.pipelineRank(rank), mesh.pipelineRanks()))
      return absl::InternalError(
          absl::StrCat(variable.name, " on rank ", rank, ": ", held.status().message()));
    if (!held.ok())
      continue;
    bool zeroBehind = false;
    const Bytes part = testing::validPart(mesh, rank, variable, held->bytes, zeroBehind);
    if (part != testing::cutOut(mesh, rank, variable, whole[i]) || !zeroBehind)
      return absl::InternalError(
          absl::StrCat(variable.name, " differs on rank ", rank, " of ", printMesh(mesh)));
  }
  return absl::OkStatus();
}

/// Saves `owned`, and waits for it.
absl::Status saveOnRanks(Communicator &communicator, const std::string &checkpoints,
                         const checkpoint::CheckpointState &state,
                         const std::vector<checkpoint::TensorView> &owned,
                         const checkpoint::SaveOptions &options) {
  CheckpointSaver::Options saving;
  saving.checkpoints = checkpoints;
  saving.save = options;
  CheckpointSaver saver(communicator, saving);
  absl::Status status = saver.begin(state, owned);
  return status.ok() ? saver.finish() : status;
}

/// Saves step 3 of these variables from all ranks of a mesh.
absl::Status saveFrom(const Mesh &mesh, const std::string &checkpoints) {
  return runOnRanks(testing::shardedParts(mesh), 1, [&](Executor &executor, Communicator &communicator) {
    initializeVariables(executor, kSeed, communicator.rank());
    checkpoint::CheckpointState state;
    state.step = 3;
    return saveOnRanks(communicator, checkpoints, state, variableViews(executor, communicator.rank()), {});
  });
}

TEST(Shards, FirstValuesAreThoseOfTheWholeTensor) {
  const std::vector<Bytes> whole = wholeValues();
  for (const Mesh &mesh : testing::shardingMeshes())
    EXPECT_EQ(runOnRanks(testing::shardedParts(mesh), 1,
                         [&](Executor &executor, Communicator &communicator) {
                           initializeVariables(executor, kSeed, communicator.rank());
                           return checkParts(executor, communicator.rank(), whole);
                         }),
              absl::OkStatus());
}

TEST(Shards, AnyMeshGoesOnFromWhatAnyOtherSaved) {
  const std::vector<Bytes> whole = wholeValues();
  for (const Mesh &saving : testing::shardingMeshes()) {
    TestFolder folder;
    ASSERT_EQ(saveFrom(saving, folder.path()), absl::OkStatus()) << printMesh(saving);
    absl::StatusOr<Checkpoint> saved = checkpoint::openCheckpoint(folder / "step-3");
    ASSERT_EQ(saved.status(), absl::OkStatus());
    EXPECT_TRUE(saved->verify().empty());
    for (const Mesh &loading : testing::shardingMeshes())
      EXPECT_EQ(runOnRanks(testing::shardedParts(loading), 1,
                           [&](Executor &executor, Communicator &communicator) {
                             absl::Status status =
                                 restoreVariables(executor, *saved, false, communicator.rank()).status();
                             return status.ok() ? checkParts(executor, communicator.rank(), whole) : status;
                           }),
                absl::OkStatus())
          << "from " << printMesh(saving) << " to " << printMesh(loading);
  }
}

TEST(Shards, ACheckpointHoldsTheVariablesOfAllPartsAndNoOthers) {
  for (const Mesh &mesh : testing::shardingMeshes()) {
    TestFolder folder;
    ASSERT_EQ(saveFrom(mesh, folder.path()), absl::OkStatus()) << printMesh(mesh);
    absl::StatusOr<Checkpoint> saved = checkpoint::openCheckpoint(folder / "step-3");
    ASSERT_EQ(saved.status(), absl::OkStatus());
    for (const Mesh &other : testing::shardingMeshes())
      EXPECT_EQ(checkSaved(testing::shardedParts(other), *saved), absl::OkStatus());
    std::vector<Executable> parts = testing::shardedParts(mesh);
    parts.back().variables.erase(parts.back().variables.end() - 2); // moment.norm
    EXPECT_THAT(std::string(checkSaved(parts, *saved).message()), HasSubstr("model.moment.norm"));
  }
}

TEST(Shards, CountsAreThoseOfTheWholeModel) {
  for (const Mesh &mesh : testing::shardingMeshes())
    EXPECT_EQ(parameterCount(testing::shardedParts(mesh)), 13 * 6 + 6 * 5 * 7 + 6);
}

TEST(Shards, EachPartIsSavedOnceAndWithItsPlacement) {
  TestFolder folder;
  ASSERT_EQ(saveFrom(testing::meshWith({{"d0", 2}, {"t0", 2}}), folder.path()), absl::OkStatus());
  absl::StatusOr<Checkpoint> saved = checkpoint::openCheckpoint(folder / "step-3");
  ASSERT_EQ(saved.status(), absl::OkStatus());
  EXPECT_EQ(saved->find("model.embedding")->placement, "[t0] []");
  EXPECT_EQ(saved->find("model.embedding")->pieces.size(), 2u) << "replicas over d0 write nothing";
  EXPECT_EQ(saved->find("model.moment.embedding")->placement, "[t0, d0] []");
  EXPECT_EQ(saved->find("model.moment.embedding")->pieces.size(), 4u);
  EXPECT_EQ(saved->find("model.norm")->placement, "");
  EXPECT_EQ(saved->find("model.norm")->pieces.size(), 1u);
  EXPECT_EQ(saved->files().size(), 4u);
}

TEST(Shards, ARankThatOwnsNothingWritesNoFile) {
  testing::onEachRank(2, [&](Communicator &communicator) {
    static TestFolder folder; // both ranks' one folder
    const float value = 1;
    std::vector<checkpoint::TensorView> owned = {{"w", {DType::F32, {}}, &value, {}}};
    if (communicator.rank() == 1)
      owned.clear();
    EXPECT_EQ(saveOnRanks(communicator, folder.path(), {}, owned, {}), absl::OkStatus());
    absl::StatusOr<Checkpoint> saved = checkpoint::openCheckpoint(folder / "step-0");
    ASSERT_EQ(saved.status(), absl::OkStatus());
    EXPECT_EQ(saved->files().size(), 1u);
  });
}

TEST(Shards, AnotherModelIsRefusedWithTheDifferences) {
  TestFolder folder;
  ASSERT_EQ(saveFrom({}, folder.path()), absl::OkStatus());
  absl::StatusOr<Checkpoint> saved = checkpoint::openCheckpoint(folder / "step-3");
  std::vector<Executable> other = testing::shardedParts(testing::meshWith({{"t0", 2}}));
  other[0].variables[0].placement.globalShape[0] = 14; // two parts of 7, as 13 has
  absl::Status restored = runOnRanks(other, 1, [&](Executor &executor, Communicator &communicator) {
    return restoreVariables(executor, *saved, true, communicator.rank()).status();
  });
  for (const absl::Status &status : {restored, checkSaved(other, *saved)}) {
    EXPECT_EQ(exitCodeOf(status), ExitCode::Checkpoint);
    EXPECT_THAT(std::string(status.message()), HasSubstr("tensor<14x6xf32>"));
  }
}

//===----------------------------------------------------------------------===//
// Faults
//===----------------------------------------------------------------------===//

/// Three ranks that save `weight` (rank r: elements 2r and 2r + 1) and, on rank 0, the others of a test
/// program, so that latestWholeStep() knows what must be there.
absl::Status saveOnThree(const std::string &checkpoints, int64_t step, checkpoint::FileSystem &files) {
  const checkpoint::Program program(step);
  std::vector<absl::Status> statuses(3);
  testing::onEachRank(3, [&](Communicator &communicator) {
    const auto rank = static_cast<size_t>(communicator.rank());
    std::vector<checkpoint::TensorView> owned = {
        {"weight",
         {DType::F32, {1, 2}},
         program.weight.data() + 2 * rank,
         checkpoint::TensorPart{{3, 2}, {communicator.rank(), 0}, "[d0] []"}}};
    if (rank == 0)
      owned.insert(owned.end(), {{"weight.moment", {DType::F64, {6}}, program.moment.data(), {}},
                                 {"updates", {DType::I64, {}}, &program.state.step, {}}});
    statuses[rank] = saveOnRanks(communicator, checkpoints, program.state, owned, {2, &files});
  });
  EXPECT_EQ(statuses[0], statuses[1]);
  EXPECT_EQ(statuses[0], statuses[2]);
  return statuses[0];
}

/// Counts operations of several threads, in whatever order they come.
class CountingSystem : public FaultySystem {
public:
  explicit CountingSystem(std::function<int(int64_t, const Operation &)> at) {
    fault = [this, at](const Operation &operation) { return at(operations++, operation); };
  }
  std::atomic<int64_t> operations{0};
};

TEST(SaveOnRanks, ARankThatCannotWriteStopsAllWithItsMessage) {
  TestFolder folder;
  CountingSystem files([](int64_t, const FaultySystem::Operation &operation) {
    return operation.path.ends_with("rank-00002.safetensors") ? -EACCES : 0;
  });
  const absl::Status status = saveOnThree(folder.path(), 1, files);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("step-1.tmp/rank-00002.safetensors: cannot create the file: Permission denied"));
  EXPECT_EQ(exitCodeOf(status), ExitCode::Checkpoint);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path())) << "nothing is left of it";
}

TEST(SaveOnRanks, ADiskTooFullForAllRanksTogetherIsToldBefore) {
  struct Full : checkpoint::FileSystem {
    int64_t freeBytes(const std::string &) override { return 40; }
  } files;
  TestFolder folder;
  EXPECT_THAT(std::string(saveOnThree(folder.path(), 1, files).message()),
              HasSubstr("the disk is full: 80 bytes needed, 40 free"));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(SaveOnRanks, FailingAtAnyOperationLeavesAWholeCheckpoint) {
  int64_t count = 0;
  for (int64_t at = -1; at < count || at < 0; ++at) {
    TestFolder folder;
    ASSERT_EQ(saveOnThree(folder.path(), 1, checkpoint::systemFiles()), absl::OkStatus());
    CountingSystem files(
        [&](int64_t number, const FaultySystem::Operation &) { return number == at ? -EIO : 0; });
    const absl::Status status = saveOnThree(folder.path(), 2, files);
    EXPECT_EQ(status.ok(), at < 0) << "operation " << at;
    count = std::max<int64_t>(count, at < 0 ? files.operations.load() : 0);
    EXPECT_THAT(checkpoint::latestWholeStep(folder.path()), ::testing::AnyOf(1, 2));
    EXPECT_EQ(saveOnThree(folder.path(), 2, checkpoint::systemFiles()), absl::OkStatus());
    EXPECT_EQ(checkpoint::latestWholeStep(folder.path()), 2);
  }
  EXPECT_EQ(count, 1 + 3 * 3 + 3 + 3) << "a folder, three files, the manifest, the folders and the name";
}

TEST(SaveOnRanks, KilledAtAnyOperationLeavesAWholeCheckpoint) {
  for (int64_t at = 0;; ++at) {
    TestFolder folder;
    ASSERT_EQ(saveOnThree(folder.path(), 1, checkpoint::systemFiles()), absl::OkStatus());
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      CountingSystem files([&](int64_t number, const FaultySystem::Operation &operation) {
        if (number == at) {
          if (operation.name == "write" &&
              ::write(operation.descriptor, operation.data, operation.size / 2) < 0)
            ::_exit(3);
          ::kill(::getpid(), SIGKILL);
        }
        return 0;
      });
      ::_exit(saveOnThree(folder.path(), 2, files).ok() ? 0 : 2);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_THAT(checkpoint::latestWholeStep(folder.path()), ::testing::AnyOf(1, 2)) << "operation " << at;
    EXPECT_TRUE(checkpoint::cleanLeftovers(folder.path()).ok());
    EXPECT_EQ(saveOnThree(folder.path(), 3, checkpoint::systemFiles()), absl::OkStatus());
    EXPECT_EQ(checkpoint::latestWholeStep(folder.path()), 3);
    if (WIFEXITED(status)) {
      EXPECT_EQ(WEXITSTATUS(status), 0);
      EXPECT_GT(at, 10) << "it was stopped before";
      return;
    }
  }
}

//===----------------------------------------------------------------------===//
// Norms of parameters
//===----------------------------------------------------------------------===//

/// What a step would show of the embedding's gradient on this rank: the square of each element that it has.
void showGradient(ParameterNorms &norms, const Executor &executor) {
  const HostTensor embedding = executor.variable(0);
  KernelCall call{"squared_norm", {*embedding.type}, {{DType::F64, {}}}, {}};
  double sum = 0;
  for (float element : embedding.as<float>())
    sum += double{element} * element;
  void *results[] = {&sum};
  CommandRecord record;
  record.location = "embedding";
  record.call = &call;
  record.results = results;
  norms.observe(record);
}

TEST(ParameterNorms, AreThoseOfTheWholeParametersOnEveryMesh) {
  std::vector<std::pair<std::string, double>> expected;
  for (const Mesh &mesh : testing::shardingMeshes()) {
    absl::Status status =
        runOnRanks(testing::shardedParts(mesh), 1, [&](Executor &executor, Communicator &communicator) {
          initializeVariables(executor, kSeed, communicator.rank());
          ParameterNorms norms(executor, communicator);
          showGradient(norms, executor);
          if (absl::StatusOr<HostTensor> norm = executor.variable("norm"); norm.ok())
            std::fill(norm->bytes.begin(), norm->bytes.end(), std::byte{0}); // by the update
          absl::StatusOr<std::vector<std::pair<std::string, double>>> found = norms.finish(5.0);
          if (!found.ok())
            return found.status();
          if (mesh.axes.empty())
            expected = *found;
          if (found->size() != expected.size())
            return absl::InternalError("another number of norms");
          for (size_t i = 0; i < found->size(); ++i)
            if ((*found)[i].first != expected[i].first ||
                std::abs((*found)[i].second - expected[i].second) > 1e-12 * expected[i].second)
              return absl::InternalError(absl::StrCat((*found)[i].first, " is ", (*found)[i].second, " on ",
                                                      printMesh(mesh), " and ", expected[i].second,
                                                      " on one rank"));
          return absl::OkStatus();
        });
    EXPECT_EQ(status, absl::OkStatus());
  }
  ASSERT_EQ(expected.size(), 7u) << "one gradient, three weights and updates";
  EXPECT_EQ(expected[0], std::pair(std::string("gradient_norm/embedding"), 5.0));
}

} // namespace
} // namespace weft
