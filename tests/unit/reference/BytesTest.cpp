#include "kernels/reference/Bytes.h"
#include "tests/unit/reference/Values.h"

namespace weft::reference {
namespace {

std::vector<std::byte> bytesOf(std::initializer_list<int> values) {
  std::vector<std::byte> bytes;
  for (int value : values)
    bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

TEST(Bytes, DecodeEachType) {
  EXPECT_VALUE(fromBytes({DType::I1, {3}}, bytesOf({0, 1, 2})), booleans({3}, {0, 1, 1}));
  EXPECT_VALUE(fromBytes({DType::I32, {}}, bytesOf({0xFE, 0xFF, 0xFF, 0xFF})), integers({}, {-2}));
  EXPECT_VALUE(fromBytes({DType::I64, {}}, bytesOf({0, 0, 0, 0, 1, 0, 0, 0})),
               integers({}, {int64_t{1} << 32}, DType::I64));
  EXPECT_VALUE(fromBytes({DType::BF16, {2}}, bytesOf({0xC0, 0x3F, 0x00, 0x80})),
               reals({2}, {1.5, -0.0}, DType::BF16));
  EXPECT_VALUE(fromBytes({DType::F16, {3}}, bytesOf({0x00, 0x3E, 0x01, 0x80, 0x00, 0xFC})),
               reals({3}, {1.5, -0x1p-24, -kInfinity}, DType::F16));
  EXPECT_VALUE(fromBytes({DType::F32, {}}, bytesOf({0, 0, 0xC0, 0x3F})), reals({}, {1.5}));
  EXPECT_VALUE(fromBytes({DType::F64, {}}, bytesOf({0, 0, 0, 0, 0, 0, 0xF8, 0x3F})), scalar(1.5));
}

TEST(Bytes, EncodeByRoundingToTheDeclaredType) {
  EXPECT_EQ(*toBytes(reals({2}, {1 + 0x3p-8, kInfinity}, DType::BF16)), bytesOf({0x82, 0x3F, 0x80, 0x7F}));
  EXPECT_EQ(*toBytes(reals({2}, {1 + 0x3p-11, -0x1p-24}, DType::F16)), bytesOf({0x02, 0x3C, 0x01, 0x80}));
  EXPECT_EQ(*toBytes(reals({1}, {1 + 0x3p-24}, DType::F32)), bytesOf({0x02, 0, 0x80, 0x3F}));
  EXPECT_EQ(*toBytes(integers({1}, {-2})), bytesOf({0xFE, 0xFF, 0xFF, 0xFF}));
  EXPECT_EQ(*toBytes(booleans({2}, {0, 1})), bytesOf({0, 1}));
}

TEST(Bytes, NaNStaysNaNInEveryType) {
  for (DType type : {DType::BF16, DType::F16, DType::F32, DType::F64}) {
    absl::StatusOr<std::vector<std::byte>> bytes = toBytes(reals({1}, {kNaN}, type));
    ASSERT_TRUE(bytes.ok());
    EXPECT_TRUE(std::isnan(fromBytes({type, {1}}, *bytes)->reals[0])) << name(type);
  }
}

TEST(Bytes, ReturnWhatWasStored) {
  for (const Tensor &x :
       {reals({2, 2}, {1, -2.5, 3e-3, 1e30}, DType::F64), integers({2}, {1, -7}, DType::I64),
        booleans({1}, {1}), reals({0, 3}, {}), reals({}, {0.5}, DType::F16)})
    EXPECT_VALUE(fromBytes(x.type(), *toBytes(x)), x);
}

TEST(Bytes, RefuseAnotherNumberOfBytes) {
  EXPECT_REFUSED(fromBytes({DType::F32, {2}}, bytesOf({0, 0, 0, 0})),
                 "bytes: tensor<2xf32> needs 8 bytes, there are 4");
  EXPECT_REFUSED(toBytes(Tensor()), "bytes: tensor<f32> needs 1 reals, it holds 0 reals and 0 integers");
}

} // namespace
} // namespace weft::reference
