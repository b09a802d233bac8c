// Kernels that know their rank: slices, offsets, masks; and what calls of rank kernels are refused.
#include "tests/unit/comm/RankHarness.h"

#include <gtest/gtest.h>

#include <limits>

namespace weft::testing {
namespace {

struct Split {
  std::vector<uint32_t> sizes, axes;
};

class RankKernels : public ::testing::TestWithParam<Split> {
protected:
  Mesh mesh = meshOf(GetParam().sizes);
  std::vector<uint32_t> axes = GetParam().axes;

  KernelCall call(const std::string &name, std::vector<TensorType> operands, TensorType result) const {
    KernelCall made{name, std::move(operands), {std::move(result)}, {}};
    made.setIntegers("axes", {axes.begin(), axes.end()});
    return made;
  }
  Extent extent(int64_t rank, int64_t size) const { return partOf(mesh, rank, size, {axes}); }
};

TEST_P(RankKernels, ASliceIsTheRanksPartWithAZeroTail) {
  std::vector<int64_t> shape = {5, 11, 2};
  for (DType type : {DType::I1, DType::F16, DType::F32, DType::I64})
    for (size_t dimension : {0, 1, 2}) {
      TensorType whole{type, shape}, piece = whole;
      piece.shape[dimension] = extent(0, shape[dimension]).size;
      KernelCall slice = call("rank_slice", {whole}, piece);
      slice.setInteger("dimension", static_cast<int64_t>(dimension));
      Values values = randomValues(shape, type, 3);
      std::vector<Bytes> operands(static_cast<size_t>(mesh.ranks()), encode(values, type));
      std::vector<Bytes> results = runCall(mesh, slice, operands);
      for (int64_t rank = 0; rank < mesh.ranks(); ++rank)
        EXPECT_EQ(results[static_cast<size_t>(rank)],
                  encode(part(values, dimension, extent(rank, shape[dimension]), 0), type));
    }
}

TEST_P(RankKernels, AnOffsetIsWhereTheRanksPartStarts) {
  for (int64_t size : {1, 2, 5, 8, 11, 1000}) {
    KernelCall offset = call("rank_offset", {}, {DType::I64, {}});
    offset.setInteger("size", size);
    std::vector<Bytes> results = runCall(mesh, offset, {});
    for (int64_t rank = 0; rank < mesh.ranks(); ++rank)
      EXPECT_EQ(decode(results[static_cast<size_t>(rank)], {DType::I64, {}}).all[0],
                static_cast<double>(extent(rank, size).start))
          << size << " on rank " << rank;
  }
}

TEST_P(RankKernels, ValidIsHowManyElementsTheRanksPartHas) {
  for (int64_t size : {1, 2, 5, 8, 11, 1000}) {
    KernelCall valid = call("rank_valid", {}, {DType::I64, {}});
    valid.setInteger("size", size);
    std::vector<Bytes> results = runCall(mesh, valid, {});
    for (int64_t rank = 0; rank < mesh.ranks(); ++rank)
      EXPECT_EQ(decode(results[static_cast<size_t>(rank)], {DType::I64, {}}).all[0],
                static_cast<double>(extent(rank, size).valid))
          << size << " on rank " << rank;
  }
}

TEST_P(RankKernels, FirstKeepsTheValueOnOneRankOfEachGroup) {
  for (bool inPlace : {false, true}) {
    TensorType type{DType::BF16, {3, 2}};
    Values values = randomValues(type.shape, type.dtype, 5);
    std::vector<Bytes> operands(static_cast<size_t>(mesh.ranks()), encode(values, type.dtype));
    std::vector<Bytes> results = runCall(mesh, call("rank_first", {type}, type), operands, inPlace);
    for (int64_t rank = 0; rank < mesh.ranks(); ++rank)
      EXPECT_EQ(results[static_cast<size_t>(rank)] == operands[0], mesh.indexOf(rank, axes) == 0);
    for (const Bytes &result : results)
      EXPECT_TRUE(result == operands[0] || result == Bytes(operands[0].size()));
  }
}

TEST_P(RankKernels, AMaskSetsWhatLiesBehindTheRanksRows) {
  constexpr int64_t kSize = 11;
  for (bool inPlace : {false, true})
    for (auto [type, value] : {std::pair(DType::F32, -std::numeric_limits<double>::infinity()),
                               {DType::BF16, -1.0},
                               {DType::F16, 0.5},
                               {DType::F64, 1e300},
                               {DType::I1, 1.0},
                               {DType::I32, -2147483648.0},
                               {DType::I64, -9223372036854775808.0}}) {
      TensorType local{type, {2, extent(0, kSize).size, 3}};
      KernelCall mask = call("rank_mask", {local}, local);
      mask.setInteger("dimension", 1);
      mask.setInteger("size", kSize);
      mask.setNumber("value", value);
      std::vector<Bytes> operands;
      for (int64_t rank = 0; rank < mesh.ranks(); ++rank)
        operands.push_back(encode(randomValues(local.shape, type, 9 + static_cast<uint64_t>(rank)), type));
      std::vector<Bytes> results = runCall(mesh, mask, operands, inPlace);
      for (int64_t rank = 0; rank < mesh.ranks(); ++rank) {
        Values operand = decode(operands[static_cast<size_t>(rank)], local);
        Extent rows{0, extent(rank, kSize).valid, local.shape[1]};
        EXPECT_EQ(results[static_cast<size_t>(rank)], encode(part(operand, 1, rows, value), type))
            << mask.str() << " rank " << rank;
      }
    }
}

INSTANTIATE_TEST_SUITE_P(Splits, RankKernels,
                         ::testing::Values(Split{{1}, {0}}, Split{{3}, {0}}, Split{{4}, {0}}, Split{{8}, {0}},
                                           Split{{2, 2}, {0, 1}}, Split{{2, 2}, {1, 0}}, Split{{2, 3}, {1}},
                                           Split{{2, 2, 3}, {2, 0}}, Split{{3}, {}}));

/// What is wrong with a call on a mesh 2 x 3, and what is said.
struct Refused {
  const char *name;
  std::function<KernelCall()> call;
  const char *message;
};

TensorType f32(std::vector<int64_t> shape) { return {DType::F32, std::move(shape)}; }

KernelCall over(std::vector<int64_t> axes, KernelCall call) {
  call.setIntegers("axes", std::move(axes));
  return call;
}
KernelCall along(int64_t dimension, KernelCall call) {
  call.setInteger("dimension", dimension);
  return call;
}
KernelCall to(int64_t peer, KernelCall call) {
  call.setInteger("peer", peer);
  return call;
}
KernelCall gather(TensorType from, TensorType to) {
  return {"all_gather", {std::move(from)}, {std::move(to)}, {}};
}
KernelCall mask(const TensorType &type, int64_t size, double value) {
  KernelCall call = along(0, {"rank_mask", {type}, {type}, {}});
  call.setInteger("size", size);
  call.setNumber("value", value);
  return over({0}, call);
}
KernelCall reduce(const TensorType &type, const char *kind) {
  KernelCall call{"all_reduce", {type}, {type}, {}};
  call.setText("kind", kind);
  return over({0}, call);
}

class RankKernelRefuses : public ::testing::TestWithParam<Refused> {};

TEST_P(RankKernelRefuses, WithItsMessage) {
  std::unique_ptr<Communicator> communicator = std::move((*createLocalGroup(6))[0]);
  std::unique_ptr<RankContext> context = *createRankContext(meshOf({2, 3}), *communicator);
  absl::Status status = createRankKernel(GetParam().call(), context.get()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), GetParam().message);
}

const Refused kRefused[] = {
    {"Name", [] { return KernelCall{"all_scatter", {}, {}, {}}; }, "there is no rank kernel all_scatter"},
    {"Operands", [] { return over({0}, along(0, {"all_gather", {}, {f32({4})}, {}})); },
     "kernel all_gather: takes 1 operands and 1 results, got 0 and 1"},
    {"Shape", [] { return over({0}, along(0, gather(f32({0}), f32({4})))); },
     "kernel all_gather: operand 0 has the shape of tensor<0xf32>: sizes start at 1, and there are at most "
     "2^48 elements"},
    {"NoAxes", [] { return along(0, gather(f32({2}), f32({4}))); },
     "kernel all_gather: attribute 'axes' must be a list of integers"},
    {"Axis", [] { return over({2}, along(0, gather(f32({2}), f32({4})))); },
     "kernel all_gather: axis 2 is none of the mesh's 2"},
    {"AxisTwice", [] { return over({1, 1}, along(0, gather(f32({2}), f32({4})))); },
     "kernel all_gather: axis 1 is named twice"},
    {"NoDimension", [] { return over({0}, gather(f32({2}), f32({4}))); },
     "kernel all_gather: attribute 'dimension' must be one integer"},
    {"Dimension", [] { return over({0}, along(1, gather(f32({2}), f32({4})))); },
     "kernel all_gather: dimension 1 is none of tensor<2xf32>"},
    {"OtherDimensions", [] { return over({0}, along(0, gather(f32({2, 3}), f32({4, 4})))); },
     "kernel all_gather: result 0 must be like operand 0, tensor<2x3xf32>, in all but the dimensions that it "
     "changes, got tensor<4x4xf32>"},
    {"Part", [] { return over({0, 1}, along(0, gather(f32({3}), f32({7})))); },
     "kernel all_gather: a dimension of 7 over 6 ranks has parts of 2, the types say 3"},
    {"Kind", [] { return reduce(f32({4}), "mean"); },
     "kernel all_reduce: kind \"mean\" is none of sum, max, min, lse, tree"},
    {"SumOfTruth", [] { return reduce({DType::I1, {4}}, "sum"); },
     "kernel all_reduce: i1 has no sum; reduce it with max or min"},
    {"LogSumExpOfIntegers", [] { return reduce({DType::I32, {4}}, "lse"); },
     "kernel all_reduce: only floats have a log-sum-exp, got tensor<4xi32>"},
    {"SameDimension",
     [] {
       KernelCall call{"all_to_all", {f32({2, 4})}, {f32({2, 4})}, {}};
       call.setInteger("split_dimension", 1);
       call.setInteger("concat_dimension", 1);
       return over({0}, call);
     },
     "kernel all_to_all: split_dimension and concat_dimension are both 1"},
    {"ShiftTypes", [] { return over({0}, {"shift", {f32({2})}, {f32({4})}, {}}); },
     "kernel shift: result 0 must be like operand 0, tensor<2xf32>, got tensor<4xf32>"},
    {"SendResults", [] { return over({0}, to(1, {"send", {f32({2})}, {f32({2})}, {}})); },
     "kernel send: takes 1 operands and 0 results, got 1 and 1"},
    {"ReceiveOperands", [] { return over({0}, to(1, {"receive", {f32({2})}, {f32({2})}, {}})); },
     "kernel receive: takes 0 operands and 1 results, got 1 and 1"},
    {"WaitOperands", [] { return over({0}, to(1, {"send_wait", {f32({2})}, {}, {}})); },
     "kernel send_wait: takes 0 operands and 0 results, got 1 and 0"},
    {"NoPeer", [] { return over({0}, {"receive_wait", {}, {}, {}}); },
     "kernel receive_wait: attribute 'peer' must be one integer"},
    {"Peer", [] { return over({1}, to(3, {"send", {f32({2})}, {}, {}})); },
     "kernel send: peer 3 is none of the 3 ranks along the axes"},
    {"PeerItself", [] { return over({1}, to(0, {"send", {f32({2})}, {}, {}})); },
     "kernel send: peer 0 is the place of rank 0 itself"},
    {"OffsetType", [] { return over({0}, {"rank_offset", {}, {f32({})}, {}}); },
     "kernel rank_offset: result 0 must be tensor<i64>, got tensor<f32>"},
    {"ValidSize",
     [] {
       KernelCall call{"rank_valid", {}, {{DType::I64, {}}}, {}};
       call.setInteger("size", 0);
       return over({0}, call);
     },
     "kernel rank_valid: size 0 is none of a dimension"},
    {"FirstTypes", [] { return over({0}, {"rank_first", {f32({2})}, {f32({4})}, {}}); },
     "kernel rank_first: result 0 must be like operand 0, tensor<2xf32>, got tensor<4xf32>"},
    {"MaskSize", [] { return mask(f32({4}), 3, 0); },
     "kernel rank_mask: size 3 is not that of a dimension with parts of 4"},
    {"MaskPart", [] { return mask(f32({4}), 9, 0); },
     "kernel rank_mask: a dimension of 9 over 2 ranks has parts of 5, the types say 4"},
    {"MaskInfinity", [] { return mask({DType::I32, {4}}, 8, -std::numeric_limits<double>::infinity()); },
     "kernel rank_mask: value -inf is no i32"},
    {"MaskFraction", [] { return mask({DType::I64, {4}}, 8, 0.5); }, "kernel rank_mask: value 0.5 is no i64"},
    {"MaskRange", [] { return mask({DType::I32, {4}}, 8, 2147483648.0); },
     "kernel rank_mask: value 2.14748e+09 is no i32"},
};

INSTANTIATE_TEST_SUITE_P(RankKernels, RankKernelRefuses, ::testing::ValuesIn(kRefused),
                         [](const auto &info) { return info.param.name; });

TEST(RankKernelsWithoutARank, AnswerWhatTheMemoryPlanAsks) {
  KernelCall sum = reduce(f32({4}), "sum"), together = over({7}, along(0, gather(f32({2}), f32({4}))));
  auto reducing = createRankKernel(sum, nullptr), gathering = createRankKernel(together, nullptr);
  ASSERT_TRUE(reducing.ok() && gathering.ok());
  EXPECT_TRUE((*reducing)->mayAlias(0, 0));
  EXPECT_FALSE((*gathering)->mayAlias(0, 0));
  EXPECT_EQ((*reducing)->workspaceBytes(), 0);
}

/// Between processes a collective needs memory: a slot for each peer, and with several rows one for itself
/// and one for each peer to pack into. Slots are multiples of 64 bytes.
TEST(RankKernelsWithoutARank, HaveAWorkspaceForTheRanksThatTheyAreStagedFor) {
  auto workspace = [](KernelCall call, int64_t ranks) {
    call.setInteger("staged", ranks);
    return (*createRankKernel(over({0}, std::move(call)), nullptr))->workspaceBytes();
  };
  EXPECT_EQ(workspace(reduce(f32({1024}), "sum"), 4), 3 * 256 * 4);
  EXPECT_EQ(workspace(reduce(f32({1024}), "sum"), 1), 0);
  EXPECT_EQ(workspace(along(0, gather(f32({64, 8}), f32({256, 8}))), 4), 0); // each part into its place
  EXPECT_EQ(workspace(along(1, gather(f32({64, 8}), f32({64, 32}))), 4), 3 * 64 * 8 * 4);
  auto scatter = [](int64_t dimension, TensorType from, TensorType to) {
    KernelCall call{"reduce_scatter", {std::move(from)}, {std::move(to)}, {}};
    call.setText("kind", "sum");
    return along(dimension, std::move(call));
  };
  EXPECT_EQ(workspace(scatter(0, f32({64, 8}), f32({16, 8})), 4), 3 * 16 * 8 * 4);
  EXPECT_EQ(workspace(scatter(1, f32({64, 8}), f32({64, 2})), 4), 7 * 64 * 2 * 4);
  KernelCall exchange{"all_to_all", {f32({64, 8})}, {f32({16, 32})}, {}};
  exchange.setInteger("split_dimension", 0);
  exchange.setInteger("concat_dimension", 1);
  EXPECT_EQ(workspace(exchange, 4), 3 * 16 * 8 * 4);
}

TEST(RankKernelsWithoutARank, AreStagedForANumberOfRanks) {
  auto refusal = [](int64_t ranks, int64_t elements) {
    KernelCall call = over({0}, reduce(f32({elements}), "sum"));
    call.setInteger("staged", ranks);
    return std::string(createRankKernel(call, nullptr).status().message());
  };
  EXPECT_EQ(refusal(0, 4), "kernel all_reduce: staged 0 is no number of ranks");
  EXPECT_EQ(refusal(1 << 25, 4), "kernel all_reduce: staged 33554432 is no number of ranks");
  EXPECT_EQ(refusal(1 << 24, int64_t{1} << 48), "");
}

TEST(RankKernelsWithoutARank, AreCheckedAsFarAsTheyCanBe) {
  EXPECT_EQ(createRankKernel(over({-1}, along(0, gather(f32({2}), f32({4})))), nullptr).status().message(),
            "kernel all_gather: axis -1 is no index of an axis");
  EXPECT_FALSE(createRankKernel(reduce({DType::I1, {4}}, "sum"), nullptr).ok());
  EXPECT_EQ(createRankKernel(over({0}, to(-1, {"send_wait", {}, {}, {}})), nullptr).status().message(),
            "kernel send_wait: peer -1 is no place of a rank");
}

TEST(RankKernels, HaveNamesThatNoOtherKernelHas) {
  for (const char *name :
       {"all_gather", "all_reduce", "reduce_scatter", "all_to_all", "shift", "send", "send_wait", "receive",
        "receive_wait", "rank_slice", "rank_offset", "rank_valid", "rank_first", "rank_mask"})
    EXPECT_TRUE(isRankKernel(name)) << name;
  EXPECT_FALSE(isRankKernel("slice"));
}

} // namespace
} // namespace weft::testing
