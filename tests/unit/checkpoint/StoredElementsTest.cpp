//===- StoredElementsTest.cpp - Elements as they lie in files -------------===//
//
// Every 16-bit float through every other type and back; rounding against the reference's, which rounds in
// float64 arithmetic, with ties, subnormals and overflow among the values.
//
//===----------------------------------------------------------------------===//
#include "runtime/checkpoint/StoredElements.h"

#include "kernels/reference/Rounding.h"

#include "gtest/gtest.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

namespace weft::checkpoint {
namespace {

constexpr DType kFloats[] = {DType::F64, DType::F32, DType::F16, DType::BF16};

/// The elements as `type`, and what that changed.
std::pair<std::vector<std::byte>, FloatChanges> converted(DType from, std::span<const std::byte> elements,
                                                          DType to) {
  const auto count = static_cast<int64_t>(elements.size()) / byteSize(from);
  std::vector<std::byte> result(static_cast<size_t>(count * byteSize(to)));
  const FloatChanges changes = convertFloats(from, elements.data(), to, result.data(), count);
  return {result, changes};
}

TEST(StoredElements, SixteenBitsSurviveWiderTypes) {
  std::vector<uint16_t> all(1 << 16);
  for (size_t i = 0; i < all.size(); ++i)
    all[i] = static_cast<uint16_t>(i);
  const std::span<const std::byte> bytes = std::as_bytes(std::span(all));
  for (DType narrow : {DType::F16, DType::BF16})
    for (DType wide : {DType::F32, DType::F64}) {
      const auto [up, upChanges] = converted(narrow, bytes, wide);
      EXPECT_EQ(upChanges.rounded, 0);
      const auto [down, downChanges] = converted(wide, up, narrow);
      EXPECT_EQ(downChanges.rounded, 0);
      for (size_t i = 0; i < all.size(); ++i) {
        uint16_t back = 0;
        std::memcpy(&back, down.data() + 2 * i, 2);
        const bool isNan =
            std::isnan(elementValue(toSafetensors(narrow), bytes.data(), static_cast<int64_t>(i)));
        ASSERT_TRUE(
            isNan ? std::isnan(elementValue(toSafetensors(narrow), down.data(), static_cast<int64_t>(i)))
                  : back == all[i])
            << std::string(name(narrow)) << " " << i;
      }
    }
}

/// Values at which rounding is hard: ties and their neighbors, the ends of ranges, subnormals.
std::vector<double> hardValues() {
  std::vector<double> values = {0,
                                -0.0,
                                65504,
                                65519.99,
                                65520,
                                65536,
                                1e300,
                                -1e300,
                                3.4e38,
                                3.5e38,
                                std::numeric_limits<double>::infinity(),
                                5e-324,
                                1e-45,
                                7e-46,
                                6e-8,
                                2.9e-8};
  std::mt19937_64 random(7);
  for (int i = 0; i < 200000; ++i) {
    const double base = std::ldexp(1.0 + std::ldexp(static_cast<double>(random() % 2048), -11),
                                   static_cast<int>(random() % 300) - 150);
    // A tie of every narrower type is among these, and what lies one bit beside it.
    for (double value : {base, std::nextafter(base, 0), std::nextafter(base, 1e308), base * (1 + 0x1p-24),
                         base * (1 + 0x1p-40)})
      values.push_back(i % 2 == 0 ? value : -value);
  }
  return values;
}

TEST(StoredElements, RoundsOnceToTheNearestEven) {
  const std::vector<double> values = hardValues();
  for (DType type : {DType::F32, DType::F16, DType::BF16}) {
    const auto [bytes, changes] = converted(DType::F64, std::as_bytes(std::span(values)), type);
    int64_t rounded = 0, overflowed = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      const double expected = reference::roundToType(values[i], type);
      const double found = elementValue(toSafetensors(type), bytes.data(), static_cast<int64_t>(i));
      ASSERT_EQ(std::bit_cast<uint64_t>(found), std::bit_cast<uint64_t>(expected))
          << std::string(name(type)) << " of " << values[i];
      rounded += found != values[i];
      overflowed += std::isinf(found) && !std::isinf(values[i]);
    }
    EXPECT_EQ(changes.rounded, rounded);
    EXPECT_EQ(changes.overflowed, overflowed);
    EXPECT_GT(overflowed, 0);
  }
}

TEST(StoredElements, BetweenSixteenBitTypesRoundsOnce) {
  for (uint32_t bits = 0; bits < 1 << 16; ++bits)
    for (auto [from, to] : {std::pair(DType::F16, DType::BF16), std::pair(DType::BF16, DType::F16)}) {
      const auto stored = static_cast<uint16_t>(bits);
      const auto bytes = std::as_bytes(std::span(&stored, 1));
      const double value = elementValue(toSafetensors(from), bytes.data(), 0);
      const double found = elementValue(toSafetensors(to), converted(from, bytes, to).first.data(), 0);
      if (std::isnan(value))
        ASSERT_TRUE(std::isnan(found));
      else
        ASSERT_EQ(found, reference::roundToType(value, to)) << value;
    }
}

TEST(StoredElements, EqualTypesKeepTheirBits) {
  for (DType type : kFloats) {
    std::vector<std::byte> bytes(1 << 12);
    std::mt19937 random(3);
    for (std::byte &each : bytes)
      each = static_cast<std::byte>(random());
    EXPECT_EQ(converted(type, bytes, type).first, bytes); // a signaling NaN among them too
  }
}

TEST(StoredElements, TellsWhereTheFirstOverflowIs) {
  FloatChanges all;
  all.add({2, 0, -1}, 0);
  all.add({3, 2, 7}, 100);
  all.add({1, 1, 0}, 200);
  EXPECT_EQ(all.rounded, 6);
  EXPECT_EQ(all.overflowed, 3);
  EXPECT_EQ(all.firstOverflow, 107);
}

TEST(StoredElements, EveryIntegerTypeHasItsValues) {
  const auto value = [](SafetensorsType type, auto stored) {
    return elementValue(type, std::as_bytes(std::span(&stored, 1)).data(), 0);
  };
  EXPECT_EQ(value(SafetensorsType::I64, int64_t{-5}), -5);
  EXPECT_EQ(value(SafetensorsType::I32, int32_t{-5}), -5);
  EXPECT_EQ(value(SafetensorsType::I16, int16_t{-5}), -5);
  EXPECT_EQ(value(SafetensorsType::I8, int8_t{-5}), -5);
  EXPECT_EQ(value(SafetensorsType::U64, uint64_t{1} << 63), 0x1p63);
  EXPECT_EQ(value(SafetensorsType::U32, uint32_t{1} << 31), 0x1p31);
  EXPECT_EQ(value(SafetensorsType::U16, uint16_t{65535}), 65535);
  EXPECT_EQ(value(SafetensorsType::U8, uint8_t{255}), 255);
  EXPECT_EQ(value(SafetensorsType::Bool, uint8_t{1}), 1);
  EXPECT_FALSE(isNumber(SafetensorsType::C64));
  EXPECT_FALSE(isNumber(SafetensorsType::F8E4M3));
  EXPECT_FALSE(isNumber(SafetensorsType::F4));
}

} // namespace
} // namespace weft::checkpoint
