// Every value of the narrow types, and the values around every border between two of them, against the
// reference's rounding.
#include "kernels/collective/NarrowFloats.h"

#include "kernels/common/Types.h"
#include "kernels/reference/Rounding.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace weft::testing {
namespace {

/// The value of a stored f16, by the definition of the format.
double valueOfF16(uint32_t stored) {
  double sign = stored & 0x8000 ? -1 : 1;
  int exponent = static_cast<int>(stored >> 10 & 31), fraction = static_cast<int>(stored & 1023);
  if (exponent == 31)
    return fraction == 0 ? sign * INFINITY : NAN;
  return sign * (exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25));
}

void expectRounded(float value) {
  auto same = [](double a, double b) {
    return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
  };
  double wide = static_cast<double>(value);
  EXPECT_TRUE(same(floatFromBf16(bf16FromFloat(value)), reference::roundToType(wide, DType::BF16))) << value;
  EXPECT_TRUE(same(floatFromF16(f16FromFloat(value)), reference::roundToType(wide, DType::F16))) << value;
}

TEST(NarrowFloats, EveryF16IsReadAndWrittenBack) {
  for (uint32_t stored = 0; stored < 65536; ++stored) {
    uint16_t bits = static_cast<uint16_t>(stored);
    double expected = valueOfF16(stored);
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(floatFromF16(bits))) << stored;
      EXPECT_TRUE(std::isnan(valueOfF16(f16FromFloat(floatFromF16(bits))))) << stored;
      continue;
    }
    EXPECT_EQ(static_cast<double>(floatFromF16(bits)), expected) << stored;
    EXPECT_EQ(f16FromFloat(floatFromF16(bits)), bits) << stored;
  }
}

TEST(NarrowFloats, RoundToTheNearestTiesToEven) {
  for (uint32_t stored = 0; stored < 0x7C00; ++stored) {
    double here = valueOfF16(stored), next = stored + 1 == 0x7C00 ? 65536 : valueOfF16(stored + 1);
    float middle = static_cast<float>((here + next) / 2);
    for (float value : {middle, std::nextafter(middle, 0.0f), std::nextafter(middle, 1e30f)}) {
      expectRounded(value);
      expectRounded(-value);
    }
  }
}

TEST(NarrowFloats, AgreeWithTheReferenceOnRandomBits) {
  std::mt19937 random(1);
  for (int i = 0; i < 200000; ++i)
    expectRounded(std::bit_cast<float>(static_cast<uint32_t>(random())));
}

} // namespace
} // namespace weft::testing
