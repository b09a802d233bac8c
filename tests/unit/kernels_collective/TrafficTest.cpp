#include "kernels/collective/Traffic.h"

#include <gtest/gtest.h>

namespace weft::testing {
namespace {

TEST(Traffic, IsThatOfARing) {
  EXPECT_EQ(bytesSent(CollectiveOp::AllGather, 4096, 4), 3072);
  EXPECT_EQ(bytesSent(CollectiveOp::ReduceScatter, 4096, 4), 3072);
  EXPECT_EQ(bytesSent(CollectiveOp::AllReduce, 4096, 4), 6144);
  EXPECT_EQ(bytesSent(CollectiveOp::AllToAll, 1024, 4), 768);
  EXPECT_EQ(bytesSent(CollectiveOp::Shift, 1024, 4), 1024);
  EXPECT_EQ(bytesSent(CollectiveOp::Send, 1024, 4), 1024);
  EXPECT_EQ(bytesSent(CollectiveOp::Broadcast, 4096, 2), 2048);
  EXPECT_EQ(bytesSent(CollectiveOp::Barrier, 0, 4), 0);
}

TEST(Traffic, OfOneRankIsNothing) {
  for (size_t i = 0; i < kCollectiveOps; ++i)
    EXPECT_EQ(bytesSent(static_cast<CollectiveOp>(i), 4096, 1), 0);
}

TEST(Traffic, RoundsFractionsOfAByteUp) {
  EXPECT_EQ(bytesSent(CollectiveOp::AllReduce, 4, 3), 6);      // 5.33
  EXPECT_EQ(bytesSent(CollectiveOp::ReduceScatter, 10, 4), 8); // 7.5
  EXPECT_EQ(bytesSent(CollectiveOp::AllGather, int64_t{1} << 56, 1024), (int64_t{1} << 46) * 1023);
}

TEST(Traffic, OfACallIsOfItsWholeTensor) {
  TensorType part{DType::F32, {2, 8}}, whole{DType::F32, {7, 8}};
  EXPECT_EQ(bytesSent(KernelCall{"all_gather", {part}, {whole}, {}}, 4), 224 * 3 / 4);
  EXPECT_EQ(bytesSent(KernelCall{"reduce_scatter", {whole}, {part}, {}}, 4), 224 * 3 / 4);
  EXPECT_EQ(bytesSent(KernelCall{"all_reduce", {whole}, {whole}, {}}, 4), 224 * 3 / 2);
  EXPECT_EQ(bytesSent(KernelCall{"all_to_all", {part}, {part}, {}}, 4), 64 * 3 / 4);
  EXPECT_EQ(bytesSent(KernelCall{"shift", {part}, {part}, {}}, 4), 64);
  EXPECT_EQ(bytesSent(KernelCall{"send", {part}, {}, {}}, 4), 64);
  EXPECT_EQ(bytesSent(KernelCall{"receive", {}, {part}, {}}, 4), 0); // the other end sends it
  EXPECT_EQ(bytesSent(KernelCall{"rank_slice", {whole}, {part}, {}}, 4), 0);
  EXPECT_EQ(bytesSent(KernelCall{"broadcast", {part}, {whole}, {}}, 4), 0);
}

} // namespace
} // namespace weft::testing
