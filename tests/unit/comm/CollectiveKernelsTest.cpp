// The collectives over groups of many shapes: whole meshes, single axes, several axes in both orders; sizes
// that do not divide, and parts that are empty.
#include "tests/unit/comm/RankHarness.h"

#include "kernels/reference/Rounding.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

namespace weft::testing {
namespace {

/// A mesh, and the axes that a call is over.
struct Group {
  std::vector<uint32_t> sizes;
  std::vector<uint32_t> axes;
};

std::vector<Group> allGroups() {
  return {{{1}, {0}},       {{2}, {0}},          {{3}, {0}},       {{4}, {0}},
          {{8}, {0}},       {{2, 2}, {0}},       {{2, 2}, {1}},    {{2, 2}, {0, 1}},
          {{2, 2}, {1, 0}}, {{2, 3}, {0, 1}},    {{3, 2}, {1, 0}}, {{2, 3}, {1}},
          {{2, 2, 2}, {1}}, {{2, 2, 2}, {0, 2}}, {{2, 2}, {}},     {{4, 2}, {0, 1}}};
}

constexpr std::array kTypes = {DType::I1,  DType::I32, DType::I64, DType::BF16,
                               DType::F16, DType::F32, DType::F64};

class Collectives : public ::testing::TestWithParam<Group> {
protected:
  void SetUp() override {
    if (!canHave(mesh.ranks()))
      GTEST_SKIP() << mesh.ranks() << " ranks are more than there are processes";
  }

  Mesh mesh = meshOf(GetParam().sizes);
  std::vector<uint32_t> axes = GetParam().axes;
  DimensionSplit split{axes};

  std::vector<int64_t> groupOf(int64_t rank) const { return mesh.group(rank, axes); }
  Extent extent(int64_t rank, int64_t size) const { return partOf(mesh, rank, size, split); }
  KernelCall call(const std::string &name, TensorType operand, TensorType result) const {
    KernelCall made{name, {std::move(operand)}, {std::move(result)}, {}};
    made.setIntegers("axes", {axes.begin(), axes.end()});
    return made;
  }
  /// Values that depend on the group that a rank is in, and on nothing else of it.
  Values wholeOf(int64_t rank, const std::vector<int64_t> &shape, DType type) const {
    return randomValues(shape, type, 1 + static_cast<uint64_t>(groupOf(rank)[0]));
  }
  int64_t partSize(int64_t size) const { return extent(0, size).size; }
};

const std::vector<int64_t> kShape = {5, 7, 3};

TEST_P(Collectives, AGatherPutsPartsTogetherAndDropsTheirTails) {
  for (DType type : kTypes)
    for (size_t dimension : {0, 1, 2}) {
      TensorType whole{type, kShape}, piece = whole;
      piece.shape[dimension] = partSize(kShape[dimension]);
      KernelCall gather = call("all_gather", piece, whole);
      gather.setInteger("dimension", static_cast<int64_t>(dimension));
      std::vector<Bytes> operands;
      for (int64_t rank = 0; rank < mesh.ranks(); ++rank)
        operands.push_back(encode(part(wholeOf(rank, kShape, type), dimension,
                                       extent(rank, kShape[dimension]), type == DType::I1 ? 1 : 77),
                                  type));
      std::vector<Bytes> results = runCall(mesh, gather, operands);
      for (int64_t rank = 0; rank < mesh.ranks(); ++rank)
        EXPECT_EQ(results[static_cast<size_t>(rank)], encode(wholeOf(rank, kShape, type), type))
            << gather.str() << " rank " << rank;
    }
}

/// What a reduction must give, by the rules of docs/kernels.md: in ascending group rank order, in the element
/// type, in float32 for the narrow floats.
Values folded(const std::vector<Values> &terms, DType type, const std::string &kind) {
  DType combined = type == DType::BF16 || type == DType::F16 ? DType::F32 : type;
  Values sum = terms.front();
  for (size_t term = 1; term < terms.size(); ++term)
    for (size_t i = 0; i < sum.all.size(); ++i) {
      double next = terms[term].all[i];
      sum.all[i] = kind == "sum"   ? reference::roundToType(sum.all[i] + next, combined)
                   : kind == "max" ? std::max(sum.all[i], next)
                                   : std::min(sum.all[i], next);
    }
  for (double &value : sum.all)
    value = reference::roundToType(value, type);
  return sum;
}

/// Terms of very different size: another order of adding gives other bits.
std::vector<Values> randomTerms(int64_t ranks, const std::vector<int64_t> &shape, DType type) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  std::vector<Values> terms;
  for (int64_t rank = 0; rank < ranks; ++rank) {
    terms.push_back(randomValues(shape, type, 100 + static_cast<uint64_t>(rank)));
    for (double &value : terms.back().all)
      if (isFloat(type))
        value = reference::roundToType(normal(random) * std::exp2(static_cast<double>(random() % 12)), type);
  }
  return terms;
}

std::vector<Values> select(const std::vector<Values> &all, const std::vector<int64_t> &ranks) {
  std::vector<Values> some;
  for (int64_t rank : ranks)
    some.push_back(all[static_cast<size_t>(rank)]);
  return some;
}

TEST_P(Collectives, AReductionFoldsInAscendingRankOrderOnEveryRank) {
  for (DType type : kTypes)
    for (const char *kind : {"sum", "max", "min"})
      for (bool inPlace : {false, true}) {
        if (type == DType::I1 && std::string(kind) == "sum")
          continue;
        std::vector<int64_t> shape = {3, 67};
        KernelCall reduce = call("all_reduce", {type, shape}, {type, shape});
        reduce.setText("kind", kind);
        std::vector<Values> terms = randomTerms(mesh.ranks(), shape, type);
        std::vector<Bytes> operands;
        for (const Values &term : terms)
          operands.push_back(encode(term, type));
        std::vector<Bytes> results = runCall(mesh, reduce, operands, inPlace);
        for (int64_t rank = 0; rank < mesh.ranks(); ++rank)
          EXPECT_EQ(results[static_cast<size_t>(rank)],
                    encode(folded(select(terms, groupOf(rank)), type, kind), type))
              << reduce.str() << " " << kind << " rank " << rank << " in place " << inPlace;
      }
}

TEST_P(Collectives, AReduceScatterGivesEachRankItsPartWithAZeroTail) {
  for (DType type : kTypes)
    for (const char *kind : {"sum", "max"})
      for (size_t dimension : {0, 1, 2}) {
        if (type == DType::I1 && std::string(kind) == "sum")
          continue;
        TensorType whole{type, kShape}, piece = whole;
        piece.shape[dimension] = partSize(kShape[dimension]);
        KernelCall scatter = call("reduce_scatter", whole, piece);
        scatter.setInteger("dimension", static_cast<int64_t>(dimension));
        scatter.setText("kind", kind);
        std::vector<Values> terms = randomTerms(mesh.ranks(), kShape, type);
        std::vector<Bytes> operands;
        for (const Values &term : terms)
          operands.push_back(encode(term, type));
        std::vector<Bytes> results = runCall(mesh, scatter, operands);
        for (int64_t rank = 0; rank < mesh.ranks(); ++rank) {
          Values all = folded(select(terms, groupOf(rank)), type, kind);
          EXPECT_EQ(results[static_cast<size_t>(rank)],
                    encode(part(all, dimension, extent(rank, kShape[dimension]), 0), type))
              << scatter.str() << " " << kind << " rank " << rank;
        }
      }
}

TEST_P(Collectives, AnAllToAllSplitsOneDimensionAndPutsAnotherTogether) {
  for (DType type : {DType::I1, DType::BF16, DType::F32, DType::I64})
    for (size_t cut : {0, 1, 2})
      for (size_t together : {0, 1, 2}) {
        if (cut == together)
          continue;
        TensorType from{type, kShape}, to{type, kShape};
        from.shape[together] = partSize(kShape[together]);
        to.shape[cut] = partSize(kShape[cut]);
        KernelCall exchange = call("all_to_all", from, to);
        exchange.setInteger("split_dimension", static_cast<int64_t>(cut));
        exchange.setInteger("concat_dimension", static_cast<int64_t>(together));
        std::vector<Bytes> operands;
        for (int64_t rank = 0; rank < mesh.ranks(); ++rank)
          operands.push_back(encode(part(wholeOf(rank, kShape, type), together,
                                         extent(rank, kShape[together]), type == DType::I1 ? 1 : 77),
                                    type));
        std::vector<Bytes> results = runCall(mesh, exchange, operands);
        for (int64_t rank = 0; rank < mesh.ranks(); ++rank)
          EXPECT_EQ(results[static_cast<size_t>(rank)],
                    encode(part(wholeOf(rank, kShape, type), cut, extent(rank, kShape[cut]), 0), type))
              << exchange.str() << " cut " << cut << " rank " << rank;
      }
}

TEST_P(Collectives, AShiftGivesEachRankWhatTheRankBeforeItHad) {
  std::vector<std::vector<int64_t>> shapes = {kShape, {}, {40001}}; // of one tile, a scalar, of several tiles
  for (DType type : {DType::I1, DType::BF16, DType::F32, DType::I64})
    for (const std::vector<int64_t> &shape : shapes) {
      KernelCall shift = call("shift", {type, shape}, {type, shape});
      std::vector<Bytes> operands;
      for (int64_t rank = 0; rank < mesh.ranks(); ++rank)
        operands.push_back(encode(randomValues(shape, type, static_cast<uint64_t>(rank)), type));
      std::vector<Bytes> results = runCall(mesh, shift, operands);
      for (int64_t rank = 0; rank < mesh.ranks(); ++rank) {
        std::vector<int64_t> group = groupOf(rank);
        auto place = std::find(group.begin(), group.end(), rank);
        int64_t before = place == group.begin() ? group.back() : *(place - 1);
        EXPECT_EQ(results[static_cast<size_t>(rank)], operands[static_cast<size_t>(before)])
            << shift.str() << " rank " << rank;
      }
    }
}

TEST_P(Collectives, AFullTurnOfShiftsComesHome) {
  TensorType type{DType::F32, kShape};
  std::vector<Bytes> home;
  for (int64_t rank = 0; rank < mesh.ranks(); ++rank)
    home.push_back(encode(randomValues(kShape, DType::F32, static_cast<uint64_t>(rank)), DType::F32));
  std::vector<Bytes> blocks = home;
  for (size_t step = 0; step < groupOf(0).size(); ++step)
    blocks = runCall(mesh, call("shift", type, type), blocks);
  EXPECT_EQ(blocks, home);
}

TEST_P(Collectives, TheSameCallGivesTheSameBitsInEveryRun) {
  std::vector<int64_t> shape = {40001}; // several tiles on each rank
  KernelCall reduce = call("all_reduce", {DType::F32, shape}, {DType::F32, shape});
  reduce.setText("kind", "sum");
  std::vector<Bytes> operands;
  for (const Values &term : randomTerms(mesh.ranks(), shape, DType::F32))
    operands.push_back(encode(term, DType::F32));
  std::vector<Bytes> first = runCall(mesh, reduce, operands);
  EXPECT_EQ(runCall(mesh, reduce, operands), first);
  for (int64_t rank = 0; rank < mesh.ranks(); ++rank)
    EXPECT_EQ(first[static_cast<size_t>(rank)], first[static_cast<size_t>(groupOf(rank)[0])]);
}

TEST_P(Collectives, LargeTensorsAreCutIntoTilesWithoutASeam) {
  std::vector<int64_t> shape = {3, 50021};
  TensorType whole{DType::F32, shape}, piece{DType::F32, {3, partSize(50021)}};
  KernelCall scatter = call("reduce_scatter", whole, piece);
  scatter.setInteger("dimension", 1);
  scatter.setText("kind", "sum");
  std::vector<Values> terms;
  std::vector<Bytes> operands;
  for (int64_t rank = 0; rank < mesh.ranks(); ++rank) {
    terms.push_back(randomValues(shape, DType::F32, static_cast<uint64_t>(rank)));
    operands.push_back(encode(terms.back(), DType::F32));
  }
  std::vector<Bytes> parts = runCall(mesh, scatter, operands);
  KernelCall gather = call("all_gather", piece, whole);
  gather.setInteger("dimension", 1);
  std::vector<Bytes> wholes = runCall(mesh, gather, parts);
  for (int64_t rank = 0; rank < mesh.ranks(); ++rank)
    EXPECT_EQ(wholes[static_cast<size_t>(rank)],
              encode(folded(select(terms, groupOf(rank)), DType::F32, "sum"), DType::F32));
}

INSTANTIATE_TEST_SUITE_P(Groups, Collectives, ::testing::ValuesIn(allGroups()), [](const auto &info) {
  std::string name = "mesh";
  for (uint32_t size : info.param.sizes)
    name += "_" + std::to_string(size);
  name += "_over";
  for (uint32_t axis : info.param.axes)
    name += "_" + std::to_string(axis);
  return name;
});

TEST(CollectiveKernels, ANotANumberOfAnyRankReachesTheMaximum) {
  Mesh mesh = meshOf({3});
  KernelCall reduce{"all_reduce", {{DType::F32, {2}}}, {{DType::F32, {2}}}, {}};
  reduce.setIntegers("axes", {0});
  for (const char *kind : {"max", "min", "sum"})
    for (size_t holder : {0, 1, 2}) {
      reduce.setText("kind", kind);
      std::vector<Bytes> operands(3, encode({{2}, {1, 2}}, DType::F32));
      operands[holder] = encode({{2}, {std::numeric_limits<double>::quiet_NaN(), 2}}, DType::F32);
      for (const Bytes &result : runCall(mesh, reduce, operands)) {
        Values values = decode(result, {DType::F32, {2}});
        EXPECT_TRUE(std::isnan(values.all[0])) << kind << " of rank " << holder;
        EXPECT_FALSE(std::isnan(values.all[1]));
      }
    }
}

TEST(CollectiveKernels, IntegerSumsWrap) {
  Mesh mesh = meshOf({2});
  for (DType type : {DType::I32, DType::I64}) {
    KernelCall reduce{"all_reduce", {{type, {}}}, {{type, {}}}, {}};
    reduce.setIntegers("axes", {0});
    reduce.setText("kind", "sum");
    int64_t highest =
        type == DType::I32 ? std::numeric_limits<int32_t>::max() : std::numeric_limits<int64_t>::max();
    Bytes most = *reference::toBytes(*reference::makeIntegers(type, {}, {highest}));
    for (const Bytes &result : runCall(mesh, reduce, {most, most}))
      EXPECT_EQ(reference::fromBytes({type, {}}, result)->integers, std::vector<int64_t>{-2});
  }
}

} // namespace
} // namespace weft::testing
