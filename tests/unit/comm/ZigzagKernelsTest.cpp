// Collectives over dimensions whose parts are two chunks, an early and a late one: every element is where the
// mesh says, whichever dimension, and over several axes at once.
#include "tests/unit/comm/RankHarness.h"

namespace weft::testing {
namespace {

/// The elements of `whole` at these stretches of a dimension, one behind the other.
Values cut(const Values &whole, size_t dimension, const std::vector<Extent> &stretches) {
  std::vector<Values> pieces;
  Values result{whole.shape, {}};
  result.shape[dimension] = 0;
  int64_t outer = 1;
  for (size_t i = 0; i < dimension; ++i)
    outer *= whole.shape[i];
  for (const Extent &stretch : stretches) {
    pieces.push_back(part(whole, dimension, stretch, 0));
    result.shape[dimension] += stretch.size;
  }
  for (int64_t i = 0; i < outer; ++i)
    for (const Values &piece : pieces) {
      auto each = static_cast<std::ptrdiff_t>(piece.all.size()) / outer;
      result.all.insert(result.all.end(), piece.all.begin() + i * each, piece.all.begin() + (i + 1) * each);
    }
  return result;
}

struct Group {
  std::vector<uint32_t> sizes, axes;
};

class ZigzagKernels : public ::testing::TestWithParam<Group> {
protected:
  void SetUp() override {
    if (!canHave(mesh.ranks()))
      GTEST_SKIP() << mesh.ranks() << " ranks are more than there are processes";
  }

  Mesh mesh = meshOf(GetParam().sizes);
  std::vector<uint32_t> axes = GetParam().axes;
  int64_t parts = mesh.sizeOf(axes);
  std::vector<int64_t> shape = {2 * parts, 6 * parts, 4 * parts};

  std::vector<Extent> stretches(int64_t rank, size_t dimension, bool zigzag = true) const {
    return stretchesOf(mesh, rank, shape[dimension], {axes, zigzag});
  }
  /// Values that depend on the group that a rank is in.
  Values wholeOf(int64_t rank, DType type) const {
    return randomValues(shape, type, 1 + static_cast<uint64_t>(mesh.group(rank, axes)[0]));
  }
  TensorType pieceType(DType type, size_t dimension) const {
    TensorType piece{type, shape};
    piece.shape[dimension] /= parts;
    return piece;
  }
  KernelCall call(const std::string &name, TensorType operand, TensorType result) const {
    KernelCall made{name, {std::move(operand)}, {std::move(result)}, {}};
    made.setIntegers("axes", {axes.begin(), axes.end()});
    return made;
  }
  void expectResults(const KernelCall &made, const std::vector<Values> &operands,
                     const std::vector<Values> &expected, DType type) const {
    std::vector<Bytes> encoded;
    for (const Values &operand : operands)
      encoded.push_back(encode(operand, type));
    std::vector<Bytes> results = runCall(mesh, made, encoded);
    for (size_t rank = 0; rank < results.size(); ++rank)
      EXPECT_EQ(results[rank], encode(expected[rank], type)) << made.str() << " rank " << rank;
  }
};

TEST_P(ZigzagKernels, AGatherPutsChunksInOrderAndASliceTakesThem) {
  for (DType type : {DType::I32, DType::BF16, DType::F32})
    for (size_t dimension : {0, 1, 2}) {
      std::vector<Values> wholes, pieces;
      for (int64_t rank = 0; rank < mesh.ranks(); ++rank) {
        wholes.push_back(wholeOf(rank, type));
        pieces.push_back(cut(wholes.back(), dimension, stretches(rank, dimension)));
      }
      KernelCall gather = call("all_gather", pieceType(type, dimension), {type, shape});
      KernelCall slice = call("rank_slice", {type, shape}, pieceType(type, dimension));
      for (KernelCall *made : {&gather, &slice}) {
        made->setInteger("dimension", static_cast<int64_t>(dimension));
        made->setInteger("zigzag", 1);
      }
      expectResults(gather, pieces, wholes, type);
      expectResults(slice, wholes, pieces, type);
    }
}

TEST_P(ZigzagKernels, AReductionIsScatteredInChunks) {
  for (size_t dimension : {0, 1, 2}) {
    std::vector<Values> terms, expected;
    for (int64_t rank = 0; rank < mesh.ranks(); ++rank)
      terms.push_back(randomValues(shape, DType::F32, 100 + static_cast<uint64_t>(rank)));
    for (int64_t rank = 0; rank < mesh.ranks(); ++rank) {
      std::vector<int64_t> group = mesh.group(rank, axes);
      Values sum = terms[static_cast<size_t>(group[0])];
      for (size_t member = 1; member < group.size(); ++member)
        for (size_t i = 0; i < sum.all.size(); ++i)
          sum.all[i] += terms[static_cast<size_t>(group[member])].all[i];
      expected.push_back(cut(sum, dimension, stretches(rank, dimension)));
    }
    KernelCall scatter = call("reduce_scatter", {DType::F32, shape}, pieceType(DType::F32, dimension));
    scatter.setText("kind", "sum");
    scatter.setInteger("dimension", static_cast<int64_t>(dimension));
    scatter.setInteger("zigzag", 1);
    expectResults(scatter, terms, expected, DType::F32);
  }
}

/// From parts of one dimension to parts of another, each in zigzag or not.
TEST_P(ZigzagKernels, AnExchangeCutsAndJoinsInEitherWay) {
  for (size_t split : {0, 1, 2})
    for (size_t concat : {0, 1, 2})
      for (bool splitZigzag : {false, true})
        for (bool concatZigzag : {false, true}) {
          if (split == concat)
            continue;
          std::vector<Values> before, after;
          for (int64_t rank = 0; rank < mesh.ranks(); ++rank) {
            Values whole = wholeOf(rank, DType::I32);
            before.push_back(cut(whole, concat, stretches(rank, concat, concatZigzag)));
            after.push_back(cut(whole, split, stretches(rank, split, splitZigzag)));
          }
          KernelCall exchange =
              call("all_to_all", pieceType(DType::I32, concat), pieceType(DType::I32, split));
          exchange.setInteger("split_dimension", static_cast<int64_t>(split));
          exchange.setInteger("concat_dimension", static_cast<int64_t>(concat));
          exchange.setInteger("split_zigzag", splitZigzag);
          exchange.setInteger("concat_zigzag", concatZigzag);
          expectResults(exchange, before, after, DType::I32);
        }
}

INSTANTIATE_TEST_SUITE_P(Groups, ZigzagKernels,
                         ::testing::Values(Group{{2}, {0}}, Group{{3}, {0}}, Group{{4}, {0}},
                                           Group{{2, 2}, {0}}, Group{{2, 2}, {1}}, Group{{2, 2}, {0, 1}},
                                           Group{{2, 3}, {1, 0}}));

TEST(ZigzagCalls, ThatDoNotDivideAreRefused) {
  Mesh mesh = meshOf({2});
  onEachRank(mesh, [](Communicator &, const RankContext &context) {
    KernelCall slice{"rank_slice", {{DType::F32, {6}}}, {{DType::F32, {3}}}, {}};
    slice.setIntegers("axes", {0});
    slice.setInteger("dimension", 0);
    EXPECT_EQ(createRankKernel(slice, &context).status(), absl::OkStatus());
    slice.setInteger("zigzag", 1);
    EXPECT_EQ(createRankKernel(slice, &context).status().message(),
              "kernel rank_slice: a dimension of 6 is no zigzag over 2 ranks: it must be a multiple of 4");
    slice.setInteger("zigzag", 2);
    EXPECT_EQ(createRankKernel(slice, &context).status().message(),
              "kernel rank_slice: zigzag is 2, but must be 0 or 1");
  });
}

} // namespace
} // namespace weft::testing
