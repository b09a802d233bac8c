#include "kernels/reference/Indexing.h"
#include "tests/unit/reference/Values.h"

namespace weft::reference {
namespace {

constexpr int64_t kMin64 = std::numeric_limits<int64_t>::min(), kMax64 = std::numeric_limits<int64_t>::max();

TEST(Gather, ReadsRowsAndZerosOutOfRange) {
  Tensor table = reals({3, 2}, {1, 2, 3, 4, 5, 6});
  EXPECT_VALUE(gather(table, integers({2, 2}, {2, 0, -1, 3})), reals({2, 2, 2}, {5, 6, 1, 2, 0, 0, 0, 0}));
  EXPECT_VALUE(gather(table, integers({2}, {kMin64, kMax64}, DType::I64)), reals({2, 2}, {0, 0, 0, 0}));
  EXPECT_VALUE(gather(table, integers({}, {1})), reals({2}, {3, 4}));
  EXPECT_VALUE(gather(integers({2}, {8, 9}), integers({3}, {1, 1, 0})), integers({3}, {9, 9, 8}));
  EXPECT_VALUE(gather(reals({0, 2}, {}), integers({1}, {0})), reals({1, 2}, {0, 0}));
}

TEST(Gather, RefusesOtherTypes) {
  EXPECT_REFUSED(gather(reals({}, {1}), integers({1}, {0})),
                 "gather: the table must have rows, it is tensor<f32>");
  EXPECT_REFUSED(gather(reals({1}, {1}), reals({1}, {0})),
                 "gather: indices must be i32 or i64, they are tensor<1xf32>");
  EXPECT_REFUSED(gather(reals({1}, {1}), booleans({1}, {0})),
                 "gather: indices must be i32 or i64, they are tensor<1xi1>");
}

TEST(ScatterAdd, AddsRowsAndDropsOutOfRange) {
  EXPECT_VALUE(scatterAdd(integers({4}, {1, 0, 1, 7}), reals({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8}), 3),
               reals({3, 2}, {3, 4, 6, 8, 0, 0}));
  EXPECT_VALUE(scatterAdd(integers({2, 1}, {-1, 0}), reals({2, 1}, {1, 2}), 1), reals({1}, {2}));
  EXPECT_VALUE(scatterAdd(integers({}, {1}), integers({2}, {8, 9}), 2), integers({2, 2}, {0, 0, 8, 9}));
  EXPECT_VALUE(scatterAdd(integers({1}, {0}), reals({1, 2}, {1, 2}), 0), reals({0, 2}, {}));
}

TEST(ScatterAdd, AddsInAscendingOrder) {
  // ((1e100 + 1) - 1e100) + 1: another order gives 2 or 0.
  EXPECT_VALUE(scatterAdd(integers({4}, {0, 0, 0, 0}), reals({4}, {1e100, 1, -1e100, 1}), 1),
               reals({1}, {1}));
}

TEST(ScatterAdd, OfIntegersWraps) {
  EXPECT_VALUE(scatterAdd(integers({2}, {0, 0}), integers({2}, {2147483647, 1}), 1),
               integers({1}, {-2147483648}));
}

TEST(ScatterAdd, IsTheTransposeOfGather) {
  Tensor table = reals({3, 2}, {1, -2, 3, 4, -5, 6}), indices = integers({4}, {2, 2, 0, 5});
  Tensor updates = reals({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  absl::StatusOr<Tensor> read = gather(table, indices), sums = scatterAdd(indices, updates, 3);
  ASSERT_TRUE(read.ok() && sums.ok());
  double left = 0, right = 0;
  for (size_t i = 0; i < updates.reals.size(); ++i)
    left += read->reals[i] * updates.reals[i];
  for (size_t i = 0; i < table.reals.size(); ++i)
    right += table.reals[i] * sums->reals[i];
  EXPECT_EQ(left, right);
}

TEST(ScatterAdd, RefusesOtherShapesAndTypes) {
  EXPECT_REFUSED(scatterAdd(integers({2}, {0, 0}), reals({3}, {1, 2, 3}), 1),
                 "scatter_add: updates tensor<3xf32> must begin with the shape of the indices tensor<2xi32>");
  EXPECT_REFUSED(scatterAdd(integers({2}, {0, 0}), reals({}, {1}), 1),
                 "scatter_add: updates tensor<f32> must begin with the shape of the indices tensor<2xi32>");
  EXPECT_REFUSED(scatterAdd(reals({1}, {0}), reals({1}, {1}), 1),
                 "scatter_add: indices must be i32 or i64, they are tensor<1xf32>");
  EXPECT_REFUSED(scatterAdd(integers({1}, {0}), booleans({1}, {1}), 1),
                 "scatter_add: updates must be i32, i64 or of a float type, they are tensor<1xi1>");
  EXPECT_REFUSED(scatterAdd(integers({1}, {0}), reals({1}, {1}), -1),
                 "scatter_add: tensor<-1xf32> has a negative dimension");
}

void expectTopK(const Tensor &x, int64_t k, const Tensor &values, const Tensor &indices) {
  absl::StatusOr<std::pair<Tensor, Tensor>> result = topK(x, k);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_TRUE(sameValues(result->first, values)) << textOf(result->first);
  EXPECT_TRUE(sameValues(result->second, indices)) << textOf(result->second);
}

TEST(TopK, DescendsWithTiesByLowerIndex) {
  expectTopK(reals({2, 4}, {1, 3, 2, 3, 5, 5, 5, 5}), 3, reals({2, 3}, {3, 3, 2, 5, 5, 5}),
             integers({2, 3}, {1, 3, 2, 0, 1, 2}));
  expectTopK(integers({3}, {-1, 7, 7}), 1, integers({1}, {7}), integers({1}, {1}));
  expectTopK(reals({2}, {0.0, -0.0}), 2, reals({2}, {0.0, -0.0}), integers({2}, {0, 1}));
}

TEST(TopK, PutsNaNLast) {
  expectTopK(reals({5}, {kNaN, -kInfinity, kNaN, 1, kInfinity}), 5,
             reals({5}, {kInfinity, 1, -kInfinity, kNaN, kNaN}), integers({5}, {4, 3, 1, 0, 2}));
}

TEST(TopK, OfNothing) {
  expectTopK(reals({2, 3}, {1, 2, 3, 4, 5, 6}), 0, reals({2, 0}, {}), integers({2, 0}, {}));
  expectTopK(reals({0, 3}, {}), 2, reals({0, 2}, {}), integers({0, 2}, {}));
  expectTopK(reals({3, 0}, {}), 0, reals({3, 0}, {}), integers({3, 0}, {}));
}

TEST(TopK, RefusesAnImpossibleK) {
  EXPECT_REFUSED(topK(reals({2}, {1, 2}), 3),
                 "top_k: k = 3 does not fit the last dimension of tensor<2xf32>");
  EXPECT_REFUSED(topK(reals({2}, {1, 2}), -1),
                 "top_k: k = -1 does not fit the last dimension of tensor<2xf32>");
  EXPECT_REFUSED(topK(scalar(1), 1), "top_k: k = 1 does not fit the last dimension of tensor<f64>");
}

} // namespace
} // namespace weft::reference
