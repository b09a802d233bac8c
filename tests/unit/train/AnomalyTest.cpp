#include "runtime/train/Anomaly.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

namespace weft {
namespace {

TEST(FirstNonFinite, SeesInfinityAndNanInEachFloatType) {
  const std::array<float, 4> floats = {1, 2, -std::numeric_limits<float>::infinity(), 0};
  EXPECT_EQ(*firstNonFinite({DType::F32, {4}}, floats.data()), -std::numeric_limits<double>::infinity());
  const std::array<double, 2> doubles = {std::numeric_limits<double>::quiet_NaN(), 0};
  EXPECT_TRUE(std::isnan(*firstNonFinite({DType::F64, {2}}, doubles.data())));
  const std::array<uint16_t, 2> bfloats = {0x3f80, 0x7f80}; // 1, infinity
  EXPECT_EQ(*firstNonFinite({DType::BF16, {2}}, bfloats.data()), std::numeric_limits<double>::infinity());
  const std::array<uint16_t, 2> halves = {0x3c00, 0xfe00}; // 1, NaN
  EXPECT_TRUE(std::isnan(*firstNonFinite({DType::F16, {2}}, halves.data())));
}

TEST(FirstNonFinite, LargestNumbersAndIntegersAreFinite) {
  const std::array<float, 2> floats = {std::numeric_limits<float>::max(),
                                       std::numeric_limits<float>::denorm_min()};
  EXPECT_FALSE(firstNonFinite({DType::F32, {2}}, floats.data()));
  const std::array<uint16_t, 1> halves = {0x7bff};
  EXPECT_FALSE(firstNonFinite({DType::F16, {1}}, halves.data()));
  const std::array<int32_t, 1> integers = {0x7f800000};
  EXPECT_FALSE(firstNonFinite({DType::I32, {1}}, integers.data()));
}

TEST(SpikeDetector, ComparesWithTheMeanOfAFullWindow) {
  SpikeDetector spikes({2.0, 3, OnSpike::Report}, {});
  EXPECT_FALSE(spikes.add(1));
  EXPECT_FALSE(spikes.add(100)); // the window is not full
  EXPECT_FALSE(spikes.add(1));
  EXPECT_FALSE(spikes.add(60)); // mean 34, twice it is 68
  EXPECT_DOUBLE_EQ(*spikes.add(110), (100 + 1 + 60) / 3.0);
}

TEST(SpikeDetector, GoesOnFromSavedLosses) {
  SpikeDetector whole({1.5, 2, OnSpike::Report}, {});
  whole.add(4);
  whole.add(2);
  SpikeDetector resumed({1.5, 2, OnSpike::Report}, whole.losses());
  EXPECT_DOUBLE_EQ(*resumed.add(5), 3);
}

TEST(SpikeDetector, AShorterWindowTakesTheNewestOfTheSavedLosses) {
  SpikeDetector resumed({1.5, 2, OnSpike::Report}, {100, 100, 1, 3});
  EXPECT_DOUBLE_EQ(*resumed.add(4), 2);
}

TEST(SpikeDetector, WithoutAFactorKeepsNothing) {
  SpikeDetector off({0, 1, OnSpike::Report}, {});
  EXPECT_FALSE(off.add(1));
  EXPECT_FALSE(off.add(1000));
  EXPECT_TRUE(off.losses().empty());
}

} // namespace
} // namespace weft
