// From rank to rank, on every backend: what arrives, what is counted, and what happens when ends differ,
// leave or give up.
#include "tests/unit/comm/Calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace weft::testing {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A call for `bytes` floats' worth of memory.
CollectiveCall sendOf(int64_t bytes, std::string_view detail = "x", DType type = DType::I32) {
  return {CollectiveOp::Send, type, bytes, bytes, detail};
}

template <typename T> int64_t bytesIn(const std::vector<T> &values) {
  return static_cast<int64_t>(values.size() * sizeof(T));
}

/// Nobody may wait for ever in a test.
void haveLimits(Communicator &communicator) { communicator.setLimits({20, 20, 20}); }

std::vector<int32_t> message(int64_t from, int64_t to, int64_t number, size_t size) {
  return std::vector<int32_t>(size, static_cast<int32_t>(1000 * number + 10 * from + to));
}

class Lines : public ::testing::TestWithParam<int> {
protected:
  void SetUp() override {
    if (!canHave(GetParam()))
      GTEST_SKIP() << GetParam() << " ranks are more than there are processes";
  }
};

TEST_P(Lines, TheKthSendIsTheKthReceiveWhoeverBeginsFirst) {
  constexpr int64_t kMessages = 4;
  onEachRank(GetParam(), [](Communicator &communicator) {
    haveLimits(communicator);
    const int64_t rank = communicator.rank(), ranks = communicator.size();
    struct Pair {
      std::shared_ptr<Line> line;
      std::vector<std::vector<int32_t>> sent, received;
    };
    for (int64_t round = 0; round < 3; ++round) {
      std::vector<Pair> pairs;
      for (int64_t peer = 0; peer < ranks; ++peer)
        if (peer != rank) {
          Pair &pair = pairs.emplace_back(Pair{*communicator.line(peer), {}, {}});
          for (int64_t number = 0; number < kMessages; ++number) {
            const size_t size = static_cast<size_t>(7 + 100 * number);
            pair.sent.push_back(message(rank, peer, 10 * round + number, size));
            pair.received.emplace_back(size, -1);
          }
        }
      auto sendAll = [&](Pair &pair) {
        for (std::vector<int32_t> &sent : pair.sent)
          ASSERT_EQ(pair.line->send(sendOf(bytesIn(sent)), sent.data()), absl::OkStatus());
      };
      auto receiveAll = [&](Pair &pair) {
        for (std::vector<int32_t> &received : pair.received)
          ASSERT_EQ(pair.line->receive(sendOf(bytesIn(received)), received.data()), absl::OkStatus());
      };
      for (Pair &pair : pairs)
        (rank + round) % 2 == 0 ? sendAll(pair) : receiveAll(pair);
      for (Pair &pair : pairs)
        (rank + round) % 2 == 0 ? receiveAll(pair) : sendAll(pair);
      for (Pair &pair : pairs)
        for (int64_t number = 0; number < kMessages; ++number)
          ASSERT_EQ(pair.line->finishReceive(), absl::OkStatus());
      for (Pair &pair : pairs)
        for (int64_t number = 0; number < kMessages; ++number)
          ASSERT_EQ(pair.line->finishSend(), absl::OkStatus());
      for (size_t i = 0; i < pairs.size(); ++i) {
        const int64_t peer = static_cast<int64_t>(i) + (static_cast<int64_t>(i) >= rank);
        for (int64_t number = 0; number < kMessages; ++number) {
          const std::vector<int32_t> &received = pairs[i].received[static_cast<size_t>(number)];
          EXPECT_EQ(received, message(peer, rank, 10 * round + number, received.size()));
        }
      }
    }
    const Traffic::Count expected{3 * (ranks - 1) * kMessages,
                                  3 * (ranks - 1) * (4 * 7 + 600) * static_cast<int64_t>(sizeof(int32_t))};
    EXPECT_EQ(communicator.traffic()[CollectiveOp::Send], expected);
    EXPECT_EQ(communicator.exchangeStatus(), absl::OkStatus());
  });
}

INSTANTIATE_TEST_SUITE_P(Ranks, Lines, ::testing::Values(2, 3, 4, 8));

TEST(LineKernels, ARankSendsToAPlaceAlongTheAxes) {
  // Two pipelines of two stages: each first stage sends to its own second one, and gets an answer.
  Mesh mesh = meshOf({2, 2});
  const TensorType type{DType::BF16, {3, 5}};
  std::vector<Bytes> results(4);
  onEachRank(mesh, [&](Communicator &communicator, const RankContext &context) {
    haveLimits(communicator);
    auto kernel = [&](const char *name, bool sends, bool receives) {
      KernelCall call{name, {}, {}, {}};
      if (sends)
        call.operands = {type};
      if (receives)
        call.results = {type};
      call.setIntegers("axes", {0});
      call.setInteger("peer", 1 - mesh.coordinate(communicator.rank(), 0));
      call.setText("location", "boundary 1");
      return *createRankKernel(call, &context);
    };
    const size_t rank = static_cast<size_t>(communicator.rank());
    Bytes own(static_cast<size_t>(type.bytes()), std::byte(10 + rank)), got(own.size());
    const void *operands[] = {own.data()};
    void *memory[] = {got.data()};
    ThreadPool threads(1);
    kernel("receive", false, true)->run({{}, memory, nullptr}, threads);
    kernel("send", true, false)->run({operands, {}, nullptr}, threads);
    kernel("send_wait", false, false)->run({{}, {}, nullptr}, threads);
    kernel("receive_wait", false, false)->run({{}, {}, nullptr}, threads);
    EXPECT_EQ(context.status(), absl::OkStatus());
    EXPECT_EQ(communicator.traffic()[CollectiveOp::Send], (Traffic::Count{1, type.bytes()}));
    results[rank] = got;
  });
  collect(results);
  for (size_t rank = 0; rank < 4; ++rank)
    EXPECT_EQ(results[rank], Bytes(static_cast<size_t>(type.bytes()), std::byte(10 + (rank + 2) % 4)));
}

// Mistakes.

/// What two ranks get where rank 0 sends one thing and rank 1 receives another.
std::vector<absl::Status> differing(const CollectiveCall &sent, const CollectiveCall &received) {
  return statuses(2, [&](Communicator &communicator) {
    haveLimits(communicator);
    std::vector<int32_t> memory(64);
    if (communicator.rank() == 0) {
      std::shared_ptr<Line> line = *communicator.line(1);
      line->send(sent, memory.data()).IgnoreError();
      line->finishSend().IgnoreError();
    } else {
      std::shared_ptr<Line> line = *communicator.line(0);
      line->receive(received, memory.data()).IgnoreError();
      line->finishReceive().IgnoreError();
    }
    return communicator.exchangeStatus();
  });
}

TEST(LineMismatch, OfBytesTypesAndDetailsNamesBothEndsOnBoth) {
  expectOnAll(differing(sendOf(16, "tensor<4xi32>"), sendOf(20, "tensor<5xi32>")),
              absl::StatusCode::kInvalidArgument,
              "send #1 from rank 0 to rank 1: rank 0 sends 16 bytes i32 (tensor<4xi32>), rank 1 receives 20 "
              "bytes i32 (tensor<5xi32>)");
  expectOnAll(
      differing(sendOf(16), sendOf(16, "x", DType::F32)), absl::StatusCode::kInvalidArgument,
      "send #1 from rank 0 to rank 1: rank 0 sends 16 bytes i32 (x), rank 1 receives 16 bytes f32 (x)");
  expectOnAll(
      differing(sendOf(16, "boundary 1"), sendOf(16, "boundary 2")), absl::StatusCode::kInvalidArgument,
      "send #1 from rank 0 to rank 1: rank 0 sends 16 bytes i32 (boundary 1), rank 1 receives 16 bytes "
      "i32 (boundary 2)");
}

TEST(LineMismatch, AWaitForWhatWasNotBegunFailsAtOnce) {
  std::vector<absl::Status> all = statuses(2, [](Communicator &communicator) {
    haveLimits(communicator);
    if (communicator.rank() == 1)
      return communicator.barrier();
    std::shared_ptr<Line> line = *communicator.line(1);
    absl::Status status = line->finishReceive();
    EXPECT_EQ(line->finishSend(), status); // the first failure stays
    EXPECT_EQ(communicator.exchangeStatus(), status);
    return status;
  });
  EXPECT_EQ(all[0].code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(all[0].message(), "rank 0 waits for send #1 from rank 1 to rank 0, which it has not begun");
  EXPECT_THAT(std::string(all[1].message()), AnyOf(all[0].message(), HasSubstr("rank 0, which has left")));
}

TEST(LineLeaving, FailsWhoeverWaitsForTheRank) {
  for (bool sends : {false, true}) {
    std::vector<absl::Status> all = statuses(2, [&](Communicator &communicator) {
      haveLimits(communicator);
      if (communicator.rank() == 1)
        return absl::OkStatus();
      std::shared_ptr<Line> line = *communicator.line(1);
      std::vector<int32_t> memory(4);
      absl::Status status =
          sends ? line->send(sendOf(16), memory.data()) : line->receive(sendOf(16), memory.data());
      status.Update(sends ? line->finishSend() : line->finishReceive());
      EXPECT_EQ(communicator.exchangeStatus(), status);
      return status;
    });
    EXPECT_EQ(all[0].code(), absl::StatusCode::kUnavailable);
    EXPECT_THAT(
        std::string(all[0].message()),
        AllOf(HasSubstr("lost rank 1, which has left the job before send #1 of 16 bytes i32 (x) from rank "),
              HasSubstr("ank 0 wa")));
  }
}

TEST(LineLeaving, AfterItsTransferIsNoConcernOfTheOtherEnd) {
  std::vector<absl::Status> all = statuses(2, [](Communicator &communicator) {
    haveLimits(communicator);
    std::vector<int32_t> memory(4, communicator.rank());
    if (communicator.rank() == 0) {
      std::shared_ptr<Line> line = *communicator.line(1);
      absl::Status status = line->send(sendOf(16), memory.data());
      std::this_thread::sleep_for(std::chrono::milliseconds(100)); // the other has gone
      status.Update(line->finishSend());
      return status;
    }
    std::shared_ptr<Line> line = *communicator.line(0);
    absl::Status status = line->receive(sendOf(16), memory.data());
    status.Update(line->finishReceive());
    EXPECT_THAT(memory, ElementsAre(0, 0, 0, 0));
    return status;
  });
  EXPECT_THAT(all, ::testing::Each(absl::OkStatus()));
}

TEST(LineAbort, EndsTheWaitsOfAllWithTheCause) {
  std::vector<absl::Status> all = statuses(4, [](Communicator &communicator) {
    haveLimits(communicator);
    if (communicator.rank() == 3) {
      communicator.abort(absl::CancelledError("stopped by a signal"));
      return communicator.barrier();
    }
    std::shared_ptr<Line> line = *communicator.line(3);
    std::vector<int32_t> memory(4);
    if (absl::Status status = line->receive(sendOf(16), memory.data()); !status.ok())
      return status;
    return line->finishReceive();
  });
  expectOnAll(all, absl::StatusCode::kCancelled, "rank 3 gave up: stopped by a signal");
}

TEST(LinePeers, AreOtherRanks) {
  onEachRank(2, [](Communicator &communicator) {
    EXPECT_EQ(communicator.line(2).status().message(), "line: rank 2 of 2 ranks");
    EXPECT_EQ(communicator.line(-1).status().message(), "line: rank -1 of 2 ranks");
    const std::string own = std::to_string(communicator.rank());
    EXPECT_EQ(communicator.line(communicator.rank()).status().message(),
              "line: rank " + own + " has none to itself");
  });
}

} // namespace
} // namespace weft::testing
