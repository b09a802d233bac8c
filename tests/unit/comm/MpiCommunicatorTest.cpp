// What only ranks that are processes need: somebody who watches a wait, checks that may be off, programs that
// were compiled without memory for it.
#include "tests/unit/comm/Calls.h"
#include "tests/unit/comm/MpiBackend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

namespace weft::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Options that hold for one test.
class MpiRanks : public ::testing::Test {
protected:
  MpiOptions &options = mpiBackend().options;
  void TearDown() override { options = before; }

private:
  MpiOptions before = options;
};

/// Ends a wait after a tenth of a second, and remembers what it was told and saw.
class Impatient final : public PeerWatch {
public:
  void setLimits(const WaitLimits &) override {}
  void enter(Phase phase, int64_t step) override { activity.enter(phase, step); }
  void begin(const CollectiveCall &call, uint64_t number, std::span<const int> members) override {
    activity.begin(call, number, members, 3);
  }
  void end() override { activity.end(); }
  absl::Status check(const PeerWait &wait) override {
    if (activity.seconds() < 0.1)
      return absl::OkStatus();
    if (missing.empty())
      missing = wait.missing();
    return absl::DeadlineExceededError("too long in " + activity.describeCall());
  }
  void giveUp(const absl::Status &cause) override { gaveUp = cause; }

  RankActivity activity;
  std::vector<int> missing;
  absl::Status gaveUp;
};

TEST_F(MpiRanks, AWatchEndsAWaitAndKnowsWhoHasNotCome) {
  Impatient watch;
  std::vector<absl::Status> all = statuses(3, [&](Communicator &communicator) {
    if (communicator.rank() == 2) {
      std::this_thread::sleep_for(std::chrono::milliseconds(400));
      return absl::OkStatus();
    }
    static_cast<MpiCommunicator &>(communicator).setWatch(&watch);
    communicator.enter(Phase::Step, 7);
    std::vector<float> values(4);
    absl::Status first = communicator.allReduce(bytesOf(values), DType::F32, ReduceKind::Sum);
    EXPECT_EQ(watch.activity.describePhase(), "step 7");
    EXPECT_FALSE(watch.activity.isInCall());
    EXPECT_EQ(communicator.barrier(), first); // there is no way back
    EXPECT_THAT(watch.missing, ElementsAre(2));
    communicator.abort(first);
    EXPECT_EQ(watch.gaveUp, first);
    static_cast<MpiCommunicator &>(communicator).setWatch(nullptr);
    return first;
  });
  for (size_t rank : {0, 1}) {
    EXPECT_EQ(all[rank].code(), absl::StatusCode::kDeadlineExceeded);
    EXPECT_EQ(all[rank].message(), "too long in all_reduce #1 of 16 bytes f32 (sum)");
  }
}

TEST_F(MpiRanks, WithoutChecksResultsAreTheSame) {
  options.checksCalls = false;
  onEachRank(4, [](Communicator &communicator) {
    std::shared_ptr<Exchange> pair = *communicator.exchange(
        std::vector<int64_t>{communicator.rank() / 2 * 2, communicator.rank() / 2 * 2 + 1});
    EXPECT_EQ(pair->member(), communicator.rank() % 2);
    std::vector<int32_t> values(1000, communicator.rank());
    for (int round = 0; round < 10; ++round) {
      ASSERT_EQ(communicator.allReduce(bytesOf(values), DType::I32, ReduceKind::Max), absl::OkStatus());
      ASSERT_EQ(communicator.barrier(), absl::OkStatus());
    }
    EXPECT_EQ(values, std::vector<int32_t>(1000, 3));
    EXPECT_EQ(communicator.traffic()[CollectiveOp::AllReduce].bytes, 10 * 2 * 3000);
  });
}

TEST_F(MpiRanks, AProgramWithoutMemoryForItIsRefused) {
  Mesh mesh = meshOf({2});
  onEachRank(mesh, [&](Communicator &, const RankContext &context) {
    KernelCall call{"all_reduce", {{DType::F32, {4}}}, {{DType::F32, {4}}}, {}};
    call.setIntegers("axes", {0});
    call.setText("kind", "sum");
    EXPECT_EQ(
        createRankKernel(call, &context).status().message(),
        "kernel all_reduce: the plan has no memory for what other processes send, because the program was "
        "compiled with launch.comm: local. Compile it with launch.comm: auto or mpi");
    call.setInteger("staged", 4);
    EXPECT_EQ(createRankKernel(call, &context).status().message(),
              "kernel all_reduce: it is staged for 4 ranks, and its group has 2");
  });
}

TEST_F(MpiRanks, ARankMakesOneCallAtATime) {
  onEachRank(2, [](Communicator &communicator) {
    std::shared_ptr<Exchange> exchange = *communicator.exchange(std::vector<int64_t>{0, 1});
    ASSERT_EQ(exchange->begin({}, {}, {}), absl::OkStatus());
    EXPECT_THAT(std::string(communicator.barrier().message()),
                HasSubstr(" called barrier while another call of it was not over"));
    exchange->end();
    EXPECT_EQ(communicator.barrier(), absl::OkStatus());
  });
}

TEST_F(MpiRanks, AnExchangeOutlivesItsCommunicatorAndFails) {
  std::shared_ptr<Exchange> exchange;
  onEachRank(2, [&](Communicator &communicator) {
    exchange = *communicator.exchange(std::vector<int64_t>{0, 1});
    ASSERT_EQ(exchange->begin({}, {}, {}), absl::OkStatus());
    exchange->end();
  });
  if (exchange) {
    EXPECT_THAT(std::string(exchange->begin({}, {}, {}).message()),
                HasSubstr(" which has left the job before barrier #2"));
  }
}

TEST_F(MpiRanks, AFailureReachesARankThatIsNotWaitingYet) {
  std::vector<absl::Status> all = statuses(4, [](Communicator &communicator) {
    if (communicator.rank() == 1)
      communicator.abort(absl::DataLossError("a file is damaged"));
    else
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    return communicator.barrier();
  });
  expectOnAll(all, absl::StatusCode::kDataLoss, "rank 1 gave up: a file is damaged");
}

} // namespace
} // namespace weft::testing
