#include "kernels/reference/Shape.h"
#include "tests/unit/reference/Values.h"

#include <numeric>

namespace weft::reference {
namespace {

/// 0, 1, 2, ... in row-major order.
Tensor ramp(Shape shape) {
  Tensor x{DType::I32, std::move(shape), {}, {}};
  x.integers.resize(x.elements());
  std::iota(x.integers.begin(), x.integers.end(), 0);
  return x;
}

TEST(Reshape, KeepsRowMajorOrder) {
  EXPECT_VALUE(reshape(ramp({2, 3}), {3, 2}), integers({3, 2}, {0, 1, 2, 3, 4, 5}));
  EXPECT_VALUE(reshape(ramp({1, 1}), {}), integers({}, {0}));
  EXPECT_VALUE(reshape(ramp({0, 4}), {2, 0}), integers({2, 0}, {}));
  EXPECT_REFUSED(reshape(ramp({2, 3}), {4}), "reshape: tensor<2x3xi32> has 6 elements, tensor<4xi32> has 4");
  EXPECT_REFUSED(reshape(ramp({2, 3}), {-2, -3}), "reshape: tensor<-2x-3xi32> has a negative dimension");
}

TEST(Transpose, TakesResultDimensionsFromThePermutation) {
  EXPECT_VALUE(transpose(ramp({2, 3}), {1, 0}), integers({3, 2}, {0, 3, 1, 4, 2, 5}));
  // result[k, i, j] = x[i, j, k]
  EXPECT_VALUE(transpose(ramp({2, 1, 3}), {2, 0, 1}), integers({3, 2, 1}, {0, 3, 1, 4, 2, 5}));
  EXPECT_VALUE(transpose(ramp({}), {}), integers({}, {0}));
  EXPECT_VALUE(transpose(ramp({2, 0}), {1, 0}), integers({0, 2}, {}));
}

TEST(Transpose, ByAPermutationAndItsInverseGivesTheOperandBack) {
  Tensor x = ramp({2, 3, 4, 5});
  absl::StatusOr<Tensor> moved = transpose(x, {2, 0, 3, 1});
  ASSERT_TRUE(moved.ok());
  EXPECT_EQ(moved->shape, (Shape{4, 2, 5, 3}));
  EXPECT_VALUE(transpose(*moved, {1, 3, 0, 2}), x);
}

TEST(Transpose, RefusesWhatIsNoPermutation) {
  EXPECT_REFUSED(transpose(ramp({2, 3}), {0, 0}),
                 "transpose: [0, 0] does not list each dimension of tensor<2x3xi32> once");
  EXPECT_REFUSED(transpose(ramp({2, 3}), {0, 2}),
                 "transpose: [0, 2] does not list each dimension of tensor<2x3xi32> once");
  EXPECT_REFUSED(transpose(ramp({2, 3}), {0}),
                 "transpose: permutation must have 2 entries for tensor<2x3xi32>, it has 1");
}

TEST(Broadcast, RepeatsAlongNewDimensionsAndAlongOnes) {
  EXPECT_VALUE(broadcast(ramp({2}), {3, 2}, {1}), integers({3, 2}, {0, 1, 0, 1, 0, 1}));
  EXPECT_VALUE(broadcast(ramp({2}), {2, 3}, {0}), integers({2, 3}, {0, 0, 0, 1, 1, 1}));
  EXPECT_VALUE(broadcast(ramp({2, 1}), {2, 2}, {0, 1}), integers({2, 2}, {0, 0, 1, 1}));
  EXPECT_VALUE(broadcast(ramp({}), {2}, {}), integers({2}, {0, 0}));
  EXPECT_VALUE(broadcast(ramp({2, 3}), {3, 2}, {1, 0}), integers({3, 2}, {0, 3, 1, 4, 2, 5}));
}

TEST(Broadcast, RefusesSizesThatDoNotFit) {
  EXPECT_REFUSED(
      broadcast(ramp({2}), {3}, {0}),
      "broadcast: dimension 0 of tensor<2xi32> has size 2, it must be 1 or 3 to become dimension 0 of the "
      "result");
  EXPECT_REFUSED(broadcast(ramp({2, 2}), {2, 2}, {1, 1}),
                 "broadcast: dimensions [1, 1] must be different dimensions of the result tensor<2x2xi32>");
  EXPECT_REFUSED(broadcast(ramp({2}), {2}, {1}),
                 "broadcast: dimensions [1] must be different dimensions of the result tensor<2xi32>");
  EXPECT_REFUSED(broadcast(ramp({2}), {2}, {}),
                 "broadcast: dimensions must have 1 entries for tensor<2xi32>, it has 0");
  EXPECT_REFUSED(
      broadcast(ramp({1}), {int64_t{1} << 32}, {0}),
      "broadcast: tensor<4294967296xi32> has more than 2^31 elements: too large for the reference");
}

TEST(Slice, TakesABlock) {
  EXPECT_VALUE(slice(ramp({3, 4}), {1, 1}, {2, 2}), integers({2, 2}, {5, 6, 9, 10}));
  EXPECT_VALUE(slice(ramp({3}), {3}, {0}), integers({0}, {}));
  EXPECT_VALUE(slice(ramp({}), {}, {}), integers({}, {0}));
  EXPECT_REFUSED(slice(ramp({3}), {2}, {2}), "slice: offsets [2] and sizes [2] leave tensor<3xi32>");
  EXPECT_REFUSED(slice(ramp({3}), {-1}, {2}), "slice: offsets [-1] and sizes [2] leave tensor<3xi32>");
  EXPECT_REFUSED(slice(ramp({3}), {0}, {-1}), "slice: offsets [0] and sizes [-1] leave tensor<3xi32>");
  EXPECT_REFUSED(slice(ramp({3}), {0, 0}, {1}),
                 "slice: offsets must have 1 entries for tensor<3xi32>, it has 2");
  EXPECT_REFUSED(slice(ramp({3}), {0}, {}), "slice: sizes must have 1 entries for tensor<3xi32>, it has 0");
}

TEST(DynamicSlice, AddsOffsetsAndClampsSoThatTheBlockFits) {
  EXPECT_VALUE(dynamicSlice(ramp({5}), {1}, {1}, {2}), integers({2}, {2, 3}));
  EXPECT_VALUE(dynamicSlice(ramp({5}), {4}, {0}, {2}), integers({2}, {3, 4}));
  EXPECT_VALUE(dynamicSlice(ramp({5}), {-9}, {0}, {2}), integers({2}, {0, 1}));
  int64_t most = std::numeric_limits<int64_t>::max(), least = std::numeric_limits<int64_t>::min();
  EXPECT_VALUE(dynamicSlice(ramp({5}), {most}, {most}, {2}), integers({2}, {3, 4}));
  EXPECT_VALUE(dynamicSlice(ramp({5}), {least}, {least}, {2}), integers({2}, {0, 1}));
  EXPECT_REFUSED(dynamicSlice(ramp({5}), {0}, {0}, {6}),
                 "slice: a block of sizes [6] does not fit into tensor<5xi32>");
  EXPECT_REFUSED(dynamicSlice(ramp({5}), {}, {0}, {6}),
                 "slice: starts must have 1 entries for tensor<5xi32>, it has 0");
}

TEST(DynamicUpdateSlice, ReplacesABlock) {
  EXPECT_VALUE(dynamicUpdateSlice(ramp({2, 3}), integers({1, 2}, {8, 9}), {1, 0}, {0, 0}),
               integers({2, 3}, {0, 1, 2, 8, 9, 5}));
  EXPECT_VALUE(dynamicUpdateSlice(ramp({3}), integers({2}, {8, 9}), {7}, {0}), integers({3}, {0, 8, 9}));
  EXPECT_VALUE(dynamicUpdateSlice(ramp({3}), integers({0}, {}), {1}, {0}), ramp({3}));
  EXPECT_REFUSED(
      dynamicUpdateSlice(ramp({3}), reals({1}, {1}), {0}, {0}),
      "update_slice: the update tensor<1xf32> must have the element type and rank of tensor<3xi32>");
  EXPECT_REFUSED(dynamicUpdateSlice(ramp({3}), ramp({4}), {0}, {0}),
                 "update_slice: a block of sizes [4] does not fit into tensor<3xi32>");
  EXPECT_REFUSED(dynamicUpdateSlice(ramp({3}), ramp({1}), {0, 0}, {0, 0}),
                 "update_slice: starts must have 1 entries for tensor<3xi32>, it has 2");
}

TEST(Concatenate, JoinsAlongOneDimension) {
  EXPECT_VALUE(concatenate({ramp({2, 1}), ramp({2, 2})}, 1), integers({2, 3}, {0, 0, 1, 1, 2, 3}));
  EXPECT_VALUE(concatenate({ramp({1, 2}), ramp({0, 2}), ramp({1, 2})}, 0), integers({2, 2}, {0, 1, 0, 1}));
  EXPECT_REFUSED(concatenate({}, 0), "concatenate: needs at least one operand");
  EXPECT_REFUSED(concatenate({ramp({2, 1}), ramp({3, 1})}, 1),
                 "concatenate: operands tensor<2x1xi32> and tensor<3x1xi32> must agree but for dimension 1");
  EXPECT_REFUSED(concatenate({ramp({2}), ramp({})}, 0),
                 "concatenate: operands tensor<2xi32> and tensor<i32> must agree but for dimension 0");
  EXPECT_REFUSED(concatenate({ramp({2}), reals({1}, {0})}, 0),
                 "concatenate: operands tensor<2xi32> and tensor<1xf32> must agree but for dimension 0");
  EXPECT_REFUSED(concatenate({ramp({2})}, 1), "concatenate: dimension 1 is not one of tensor<2xi32>");
}

TEST(Concatenate, IsUndoneBySlices) {
  Tensor a = ramp({2, 3, 2}), b = ramp({2, 1, 2});
  absl::StatusOr<Tensor> joined = concatenate({a, b}, 1);
  ASSERT_TRUE(joined.ok());
  EXPECT_VALUE(slice(*joined, {0, 0, 0}, a.shape), a);
  EXPECT_VALUE(slice(*joined, {0, 3, 0}, b.shape), b);
}

TEST(Pad, SurroundsWithTheValue) {
  EXPECT_VALUE(pad(ramp({1, 2}), {1, 0}, {0, 1}, 7), integers({2, 3}, {7, 7, 7, 0, 1, 7}));
  EXPECT_VALUE(pad(reals({1}, {1}), {0}, {2}, -kInfinity), reals({3}, {1, -kInfinity, -kInfinity}));
  EXPECT_VALUE(pad(booleans({1}, {0}), {1}, {0}, 1), booleans({2}, {1, 0}));
  EXPECT_VALUE(pad(reals({0}, {}), {1}, {0}, 0.5), reals({1}, {0.5}));
  EXPECT_REFUSED(pad(ramp({1}), {-1}, {0}, 0), "pad: low [-1] and high [0] must lie in [0, 2^31]");
  EXPECT_REFUSED(pad(ramp({1}), {0}, {0}, 0.5), "pad: value 0.5 is not one of i32");
  EXPECT_REFUSED(pad(booleans({1}, {0}), {0}, {0}, 2), "pad: value 2 is not one of i1");
  EXPECT_REFUSED(pad(ramp({1}), {}, {0}, 0), "pad: low must have 1 entries for tensor<1xi32>, it has 0");
  EXPECT_REFUSED(pad(ramp({1}), {0}, {}, 0), "pad: high must have 1 entries for tensor<1xi32>, it has 0");
}

TEST(Shape, RefusesTensorsThatAreNotWhole) {
  const char *hole = ": tensor<f32> needs 1 reals, it holds 0 reals and 0 integers";
  EXPECT_REFUSED(reshape(Tensor(), {}), std::string("reshape") + hole);
  EXPECT_REFUSED(transpose(Tensor(), {}), std::string("transpose") + hole);
  EXPECT_REFUSED(broadcast(Tensor(), {}, {}), std::string("broadcast") + hole);
  EXPECT_REFUSED(slice(Tensor(), {}, {}), std::string("slice") + hole);
  EXPECT_REFUSED(dynamicSlice(Tensor(), {}, {}, {}), std::string("slice") + hole);
  EXPECT_REFUSED(dynamicUpdateSlice(Tensor(), scalar(1), {}, {}), std::string("update_slice") + hole);
  EXPECT_REFUSED(dynamicUpdateSlice(scalar(1), Tensor(), {}, {}), std::string("update_slice") + hole);
  EXPECT_REFUSED(pad(Tensor(), {}, {}, 0), std::string("pad") + hole);
}

} // namespace
} // namespace weft::reference
