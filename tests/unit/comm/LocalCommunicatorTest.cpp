#include "runtime/comm/LocalCommunicator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace weft::testing {
namespace {

using ::testing::ElementsAre;

class LocalCommunicatorTest : public ::testing::Test {
protected:
  std::unique_ptr<Communicator> communicator = createLocalCommunicator();
  std::vector<float> mine = {1, -2, 3}, all = {0, 0, 0};
};

TEST_F(LocalCommunicatorTest, IsRankZeroOfOne) {
  EXPECT_EQ(communicator->rank(), 0);
  EXPECT_EQ(communicator->size(), 1);
  EXPECT_TRUE(communicator->barrier().ok());
}

TEST_F(LocalCommunicatorTest, ABroadcastKeepsTheRootsBytes) {
  EXPECT_TRUE(communicator->broadcast(std::as_writable_bytes(std::span(mine)), 0).ok());
  EXPECT_THAT(mine, ElementsAre(1, -2, 3));
}

TEST_F(LocalCommunicatorTest, AllGatherIsTheOneRanksPart) {
  ASSERT_TRUE(
      communicator->allGather(std::as_bytes(std::span(mine)), std::as_writable_bytes(std::span(all))).ok());
  EXPECT_EQ(all, mine);
}

TEST_F(LocalCommunicatorTest, AReductionOverOneRankIsItsValue) {
  for (ReduceKind kind : {ReduceKind::Sum, ReduceKind::Max, ReduceKind::Min})
    ASSERT_TRUE(communicator->allReduce(std::as_writable_bytes(std::span(mine)), DType::F32, kind).ok());
  EXPECT_THAT(mine, ElementsAre(1, -2, 3));
}

TEST_F(LocalCommunicatorTest, ReduceScatterIsTheWholeReduction) {
  ASSERT_TRUE(communicator
                  ->reduceScatter(std::as_bytes(std::span(mine)), std::as_writable_bytes(std::span(all)),
                                  DType::F32, ReduceKind::Sum)
                  .ok());
  EXPECT_EQ(all, mine);
}

TEST_F(LocalCommunicatorTest, NothingIsAValidAmount) {
  EXPECT_TRUE(communicator->allGather({}, {}).ok());
  EXPECT_TRUE(communicator->reduceScatter({}, {}, DType::F32, ReduceKind::Max).ok());
}

TEST_F(LocalCommunicatorTest, WrongArgumentsAreNamed) {
  std::span<std::byte> bytes = std::as_writable_bytes(std::span(mine));
  EXPECT_EQ(communicator->broadcast(bytes, 1).message(), "broadcast: root 1 of 1 ranks");
  EXPECT_EQ(communicator->broadcast(bytes, -1).message(), "broadcast: root -1 of 1 ranks");
  EXPECT_EQ(communicator->allGather(bytes, bytes.first(4)).message(),
            "all_gather: 4 bytes in all are not 1 times 12 bytes");
  EXPECT_EQ(communicator->allReduce(bytes.first(3), DType::F32, ReduceKind::Sum).message(),
            "all_reduce: 3 bytes are no whole number of f32 elements");
  EXPECT_EQ(communicator->allReduce(bytes, DType::I1, ReduceKind::Sum).message(),
            "all_reduce: i1 has no sum; reduce it with max or min");
  EXPECT_EQ(communicator->reduceScatter(bytes, bytes.first(8), DType::F32, ReduceKind::Sum).message(),
            "reduce_scatter: 12 bytes in all are not 1 times 8 bytes");
}

} // namespace
} // namespace weft::testing
