#include "kernels/reference/Generate.h"
#include "kernels/common/Philox.h"
#include "kernels/reference/Shape.h"
#include "tests/unit/reference/Values.h"

namespace weft::reference {
namespace {

Tensor step(int64_t value) { return integers({}, {value}, DType::I64); }
Tensor samples(std::vector<int64_t> ids) {
  Shape shape = {static_cast<int64_t>(ids.size())};
  return integers(shape, std::move(ids), DType::I64);
}

TEST(Full, RepeatsOneValue) {
  EXPECT_VALUE(full({DType::F16, {2}}, 0.1), reals({2}, {0.1, 0.1}, DType::F16));
  EXPECT_VALUE(full({DType::I32, {}}, -3), integers({}, {-3}));
  EXPECT_VALUE(full({DType::I1, {1}}, 1), booleans({1}, {1}));
  EXPECT_REFUSED(full({DType::I32, {}}, 0.5), "constant: value 0.5 is not one of i32");
  EXPECT_REFUSED(full({DType::I32, {}}, kNaN), "constant: value nan is not one of i32");
}

TEST(Iota, CountsAlongItsDimension) {
  EXPECT_VALUE(iota({DType::I32, {2, 3}}, 1), integers({2, 3}, {0, 1, 2, 0, 1, 2}));
  EXPECT_VALUE(iota({DType::F32, {2, 3}}, 0), reals({2, 3}, {0, 0, 0, 1, 1, 1}));
  EXPECT_REFUSED(iota({DType::I32, {2}}, 1), "iota: dimension 1 is not one of tensor<2xi32>");
  EXPECT_REFUSED(iota({DType::I32, {}}, 0), "iota: dimension 0 is not one of tensor<i32>");
  EXPECT_REFUSED(iota({DType::I1, {2}}, 0),
                 "iota: the result must be i32, i64 or of a float type, it is tensor<2xi1>");
}

TEST(RandomUniform, TakesLanesOfTheBlocksOfEachSample) {
  absl::StatusOr<Tensor> x = randomUniform(step(5), samples({9, -1}), {2, 2, 3}, 7, 11);
  ASSERT_TRUE(x.ok()) << x.status();
  EXPECT_EQ(x->type(), (TensorType{DType::F32, {2, 2, 3}}));
  uint64_t key = philoxKey(7, 5, 11);
  for (int64_t i = 0; i < 6; ++i) {
    EXPECT_EQ(x->reals[i], uniformFromBits(philoxBlock(key, 9, i / 4)[i % 4]));
    EXPECT_EQ(x->reals[6 + i], uniformFromBits(philoxBlock(key, ~uint64_t{0}, i / 4)[i % 4]));
  }
}

TEST(RandomUniform, OfASampleDoesNotDependOnItsBatch) {
  absl::StatusOr<Tensor> whole = randomUniform(step(1), samples({3, 4, 5}), {3, 7}, 1, 2);
  absl::StatusOr<Tensor> part = randomUniform(step(1), samples({5, 4}), {2, 7}, 1, 2);
  ASSERT_TRUE(whole.ok() && part.ok());
  EXPECT_VALUE(slice(*whole, {2, 0}, {1, 7}), *slice(*part, {0, 0}, {1, 7}));
  EXPECT_VALUE(slice(*whole, {1, 0}, {1, 7}), *slice(*part, {1, 0}, {1, 7}));
}

TEST(RandomUniform, IsUniform) {
  absl::StatusOr<Tensor> x = randomUniform(step(1), samples({0}), {1, 40000}, 1, 2);
  ASSERT_TRUE(x.ok());
  double sum = 0, squares = 0;
  for (double value : x->reals) {
    ASSERT_GE(value, 0);
    ASSERT_LT(value, 1);
    sum += value;
    squares += value * value;
  }
  EXPECT_NEAR(sum / 40000, 0.5, 0.006); // four standard deviations
  EXPECT_NEAR(squares / 40000, 1.0 / 3, 0.006);
}

TEST(RandomUniform, OfOneElementPerSample) {
  absl::StatusOr<Tensor> x = randomUniform(step(1), samples({3}), {1}, 1, 2);
  ASSERT_TRUE(x.ok());
  EXPECT_EQ(x->reals[0], uniformFromBits(philoxBlock(philoxKey(1, 1, 2), 3, 0)[0]));
}

TEST(RandomUniform, RefusesOtherTypesAndShapes) {
  EXPECT_REFUSED(randomUniform(integers({}, {1}), samples({1}), {1}, 0, 0),
                 "random_uniform: the step must be tensor<i64>, it is tensor<i32>");
  EXPECT_REFUSED(randomUniform(step(1), integers({1}, {1}), {1}, 0, 0),
                 "random_uniform: the sample ids must be one dimension of i64, they are tensor<1xi32>");
  EXPECT_REFUSED(randomUniform(step(1), samples({1}), {2, 3}, 0, 0),
                 "random_uniform: the result tensor<2x3xf32> must begin with the 1 samples");
  EXPECT_REFUSED(randomUniform(step(1), samples({1}), {}, 0, 0),
                 "random_uniform: the result tensor<f32> must begin with the 1 samples");
}

} // namespace
} // namespace weft::reference
