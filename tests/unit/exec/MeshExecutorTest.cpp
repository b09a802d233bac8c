// One executable, run by several ranks: each a thread with an executor, an arena and a device of its own.
#include "runtime/comm/LocalCommunicator.h"
#include "runtime/comm/MeshContext.h"
#include "runtime/exec/Executor.h"
#include "runtime/executable/Communication.h"
#include "runtime/executable/Parts.h"
#include "tests/unit/device/TestKernels.h"
#include "tests/unit/executable/SampleMeshExecutable.h"
#include "tests/unit/executable/SampleParts.h"
#include "tests/unit/executable/SamplePipeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <thread>

namespace weft::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// What a rank's thread has.
struct Rank {
  int64_t index;
  Communicator &communicator;
  Executor &executor;
};

/// Loads executableOf(rank) on each rank of the sample's mesh and calls the body; its statuses by rank.
std::vector<absl::Status> onEachRank(const std::function<Executable(int64_t)> &executableOf,
                                     const std::function<absl::Status(Rank)> &body) {
  Mesh mesh = executableOf(0).mesh;
  std::vector<absl::Status> statuses(static_cast<size_t>(mesh.ranks()));
  std::vector<std::unique_ptr<Communicator>> communicators =
      *createLocalGroup(static_cast<int>(mesh.ranks()));
  std::vector<std::thread> threads;
  for (std::unique_ptr<Communicator> &own : communicators)
    threads.emplace_back([&, communicator = std::move(own)] {
      int64_t rank = communicator->rank();
      std::unique_ptr<Device> device = createTestDevice(1);
      std::unique_ptr<RankContext> context = *createRankContext(mesh, *communicator);
      absl::StatusOr<std::unique_ptr<Executor>> executor =
          Executor::create(executableOf(rank), *device, context.get());
      statuses[static_cast<size_t>(rank)] =
          executor.ok() ? body({rank, *communicator, **executor}) : executor.status();
    });
  for (std::thread &thread : threads)
    thread.join();
  return statuses;
}

Executable theSample(int64_t) { return sampleMeshExecutable(); }

/// Writes w = 1 2 3 4 5 6, split over the ranks, and x = 1 on rank 0, 10 on rank 1, 100 and 1000.
void fillSample(const Rank &rank) {
  std::span<float> w = rank.executor.variable(0).as<float>();
  Extent own = partOf(rank.executor.executable().mesh, rank.index,
                      rank.executor.executable().variables[0].placement)[0];
  for (int64_t i = 0; i < own.valid; ++i)
    w[static_cast<size_t>(i)] = static_cast<float>(own.start + i + 1);
  constexpr float kSamples[] = {1, 10, 100, 1000};
  std::span<float> x = rank.executor.input(*rank.executor.program("step"), "x")->as<float>();
  std::fill(x.begin(), x.end(), kSamples[rank.index]);
}

std::vector<float> valuesOf(const HostTensor &tensor) {
  return {tensor.as<float>().begin(), tensor.as<float>().end()};
}

TEST(MeshExecutor, RanksRunOneProgramOnTheirParts) {
  std::vector<std::vector<float>> w(4), highest(4);
  std::vector<absl::Status> statuses = onEachRank(theSample, [&](Rank rank) {
    fillSample(rank);
    EXPECT_EQ(rank.executor.allocatedBytes(), rank.executor.executable().memory.arenaBytes());
    absl::Status status = rank.executor.run("step");
    w[static_cast<size_t>(rank.index)] = valuesOf(rank.executor.variable(0));
    highest[static_cast<size_t>(rank.index)] =
        valuesOf(*rank.executor.output(*rank.executor.program("step"), "highest"));
    // The sample's traffic: a gather and a scatter of 24 bytes over 4 ranks, a maximum of 8 bytes over 2.
    EXPECT_EQ(rank.communicator.traffic().bytes(), 18 + 18 + 8);
    const Executable &executable = rank.executor.executable();
    EXPECT_EQ(rank.communicator.traffic(), trafficOf(executable, executable.programs[0]));
    return status;
  });
  EXPECT_THAT(statuses, ::testing::Each(absl::OkStatus()));
  // Every element is 5 w + 1111. Parts of 6 over 2 x 2 hold 2, 1, 2 and 1 elements.
  EXPECT_THAT(w, ElementsAre(ElementsAre(1116, 1121), ElementsAre(1126, 0), ElementsAre(1131, 1136),
                             ElementsAre(1141, 0)));
  EXPECT_THAT(highest, ElementsAre(ElementsAre(1126, 1121), ElementsAre(1126, 1121), ElementsAre(1141, 1136),
                                   ElementsAre(1141, 1136)));
}

// The first part's ranks add their sample and the embedding, the second part's the head, twice each.
TEST(MeshExecutor, RanksOfAPipelineRunTheirPartsSideBySide) {
  const std::vector<Executable> parts = sampleParts();
  std::vector<std::vector<float>> total(4), shared(4);
  std::vector<absl::Status> statuses = onEachRank(
      [&](int64_t rank) { return partOf(parts, rank); },
      [&](Rank rank) {
        auto fill = [&](const char *name, float value) {
          if (absl::StatusOr<HostTensor> tensor = rank.executor.variable(name); tensor.ok())
            std::fill(tensor->as<float>().begin(), tensor->as<float>().end(), value);
        };
        fill("embedding", 1);
        fill("head", 10);
        fill("shared", 5000);
        if (absl::StatusOr<HostTensor> x = rank.executor.input(*rank.executor.program("step"), "x"); x.ok())
          std::fill(x->as<float>().begin(), x->as<float>().end(), rank.index == 0 ? 100.0f : 200.0f);
        EXPECT_EQ(rank.executor.allocatedBytes(), rank.index < 2 ? 384u : 320u);
        absl::Status status = rank.executor.run("step");
        total[static_cast<size_t>(rank.index)] =
            valuesOf(*rank.executor.output(*rank.executor.program("step"), "total"));
        shared[static_cast<size_t>(rank.index)] = valuesOf(*rank.executor.variable("shared"));
        const Executable &part = rank.executor.executable();
        EXPECT_EQ(rank.communicator.traffic(), trafficOf(part, part.programs[0]));
        return status;
      });
  EXPECT_THAT(statuses, ::testing::Each(absl::OkStatus()));
  EXPECT_THAT(total, ::testing::Each(std::vector<float>(6, 100 + 200 + 2 * 1 + 2 * 20)));
  EXPECT_THAT(shared, ::testing::Each(std::vector<float>(6, 5000 + 342)));
}

TEST(MeshExecutor, RanksOfAPipelineSendWhatIsPredicted) {
  auto partOfRank = [](int64_t rank) { return samplePipelinePart(rank / 2); };
  std::vector<std::vector<float>> values(4);
  std::vector<absl::Status> statuses = onEachRank(partOfRank, [&](Rank rank) {
    std::span<float> variable = rank.executor.variable(0).as<float>();
    std::fill(variable.begin(), variable.end(), static_cast<float>(rank.index + 1));
    absl::Status status = rank.executor.run("step");
    values[static_cast<size_t>(rank.index)] = valuesOf(rank.executor.variable(0));
    const Executable &executable = rank.executor.executable();
    EXPECT_EQ(rank.communicator.traffic(), trafficOf(executable, executable.programs[0]));
    EXPECT_EQ(rank.communicator.traffic()[CollectiveOp::Send],
              rank.index < 2 ? (Traffic::Count{2, 32}) : Traffic::Count());
    return status;
  });
  EXPECT_THAT(statuses, ::testing::Each(absl::OkStatus()));
  EXPECT_THAT(values, ElementsAre(ElementsAre(1, 1, 1, 1), ElementsAre(2, 2, 2, 2), ElementsAre(1, 1, 1, 1),
                                  ElementsAre(2, 2, 2, 2)));
}

TEST(MeshExecutor, TheSameStepsGiveTheSameBits) {
  auto threeSteps = [] {
    std::vector<std::vector<float>> w(4);
    onEachRank(theSample, [&](Rank rank) {
      fillSample(rank);
      for (int i = 0; i < 3; ++i)
        EXPECT_EQ(rank.executor.run("step"), absl::OkStatus());
      w[static_cast<size_t>(rank.index)] = valuesOf(rank.executor.variable(0));
      return absl::OkStatus();
    });
    return w;
  };
  EXPECT_EQ(threeSteps(), threeSteps());
}

TEST(MeshExecutor, TheObserverSeesCollectivesOnceTheyAreDone) {
  std::vector<std::string> names;
  std::vector<float> gathered;
  onEachRank(theSample, [&](Rank rank) {
    fillSample(rank);
    if (rank.index == 3)
      rank.executor.setObserver([&](const CommandRecord &record) {
        names.push_back(record.call == nullptr ? "copy" : record.call->name);
        if (names.size() == 1)
          gathered.assign(static_cast<const float *>(record.results[0]),
                          static_cast<const float *>(record.results[0]) + 6);
      });
    return rank.executor.run("step");
  });
  EXPECT_THAT(names, ElementsAre("all_gather", "add", "reduce_scatter", "add", "copy", "all_reduce"));
  EXPECT_THAT(gathered, ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST(MeshExecutor, AMeshOfOneRankNeedsNoContext) {
  std::unique_ptr<Device> device = createTestDevice(1);
  std::unique_ptr<Executor> executor = *Executor::create(sampleMeshExecutable(1, 1), *device);
  std::span<float> w = executor->variable(0).as<float>();
  std::fill(w.begin(), w.end(), 2.0f);
  ASSERT_EQ(executor->run("step"), absl::OkStatus());
  EXPECT_THAT(valuesOf(executor->variable(0)), ElementsAre(4, 4, 4, 4, 4, 4));
}

TEST(MeshExecutor, OneRankOfSeveralAloneIsRefused) {
  std::unique_ptr<Device> device = createTestDevice(1);
  absl::Status status = Executor::create(sampleMeshExecutable(), *device).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(status.message(), "the executable is for 4 ranks, which run it together: one alone needs one "
                              "compiled for launch.ranks=1");
}

TEST(MeshExecutor, AContextOfAnotherMeshIsRefused) {
  std::unique_ptr<Device> device = createTestDevice(1);
  std::unique_ptr<Communicator> communicator = std::move((*createLocalGroup(4))[0]);
  Mesh other;
  other.axes = {{"d0", 4}};
  std::unique_ptr<RankContext> context = *createRankContext(other, *communicator);
  absl::Status status = Executor::create(sampleMeshExecutable(), *device, context.get()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(status.message(),
            "the executable is for a mesh of 2 x 2 ranks, this is one of 4. Compile it here: "
            "weft compile RUN.yaml -o RUN.weft");
}

TEST(MeshExecutor, ACollectiveThatDoesNotFitTheMeshIsRefused) {
  std::unique_ptr<Device> device = createTestDevice(1);
  Executable executable = sampleMeshExecutable(1, 1);
  executable.kernels[0].call.operands[0].shape = {3};
  absl::Status status = Executor::create(std::move(executable), *device).status();
  EXPECT_EQ(
      status.message(),
      "kernel 0 all_gather(tensor<3xf32>) -> (tensor<6xf32>): kernel all_gather: a dimension of 6 over 1 "
      "ranks has parts of 6, the types say 3");
}

TEST(MeshExecutor, RanksThatRunDifferentProgramsAreToldSo) {
  auto otherOnRankTwo = [](int64_t rank) {
    Executable executable = sampleMeshExecutable();
    if (rank == 2)
      executable.kernels[2].call.setText("kind", "max");
    return executable;
  };
  for (const absl::Status &status :
       onEachRank(otherOnRankTwo, [](Rank rank) { return rank.executor.run("step"); })) {
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(status.message(),
              "rank 0 called reduce_scatter #2 of 24 bytes f32 (sum, dimension 0, tensor<6xf32> -> "
              "tensor<2xf32>), rank 2 called reduce_scatter #2 of 24 bytes f32 (max, dimension 0, "
              "tensor<6xf32> -> tensor<2xf32>)");
  }
}

TEST(MeshExecutor, ARankThatStopsEndsTheRunOfTheOthers) {
  std::vector<absl::Status> statuses = onEachRank(theSample, [](Rank rank) {
    for (int step = 0; step < 1000; ++step) {
      if (rank.index == 1 && step == 10)
        return absl::OkStatus();
      if (absl::Status status = rank.executor.run("step"); !status.ok())
        return status;
    }
    return absl::OkStatus();
  });
  for (size_t rank : {0, 2, 3}) {
    EXPECT_EQ(statuses[rank].code(), absl::StatusCode::kUnavailable);
    EXPECT_THAT(std::string(statuses[rank].message()),
                HasSubstr("lost rank 1, which has left the job before all_gather #"));
  }
}

TEST(MeshExecutor, ARankThatGivesUpTellsTheOthersWhy) {
  std::vector<absl::Status> statuses = onEachRank(theSample, [](Rank rank) {
    if (rank.index == 3)
      rank.communicator.abort(absl::ResourceExhaustedError("disk full"));
    return rank.executor.run("step");
  });
  for (const absl::Status &status : statuses) {
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
    EXPECT_EQ(status.message(), "rank 3 gave up: disk full");
  }
}

} // namespace
} // namespace weft::testing
