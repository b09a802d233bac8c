//===- StoredElements.cpp - Elements as they lie in files -----------------===//
//
// Every float type goes through float64, which holds all of them exactly. On the way down to 16 bits a
// float32 lies between: rounded to odd, so that rounding it again is rounding once.
//
//===----------------------------------------------------------------------===//
#include "runtime/checkpoint/StoredElements.h"

#include "kernels/collective/NarrowFloats.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>

namespace weft::checkpoint {
namespace {

template <typename Stored> Stored load(const std::byte *elements, int64_t index) {
  Stored value;
  std::memcpy(&value, elements + index * static_cast<int64_t>(sizeof(Stored)), sizeof(Stored));
  return value;
}

/// Toward zero, with the last bit set where that is not the value itself (G. Boldo, G. Melquiond, Emulation
/// of FMA and correctly rounded sums: proved algorithms using rounding to odd, 2008).
float roundedToOdd(double value) {
  const float nearest = static_cast<float>(value);
  if (static_cast<double>(nearest) == value || std::isnan(value))
    return nearest;
  uint32_t bits = std::bit_cast<uint32_t>(nearest);
  if (std::abs(static_cast<double>(nearest)) > std::abs(value))
    --bits;
  return std::bit_cast<float>(bits | 1u);
}

/// How a float type is stored, and what it is worth.
struct Float64 {
  using Stored = uint64_t;
  static double value(Stored stored) { return std::bit_cast<double>(stored); }
  static Stored stored(double value) { return std::bit_cast<Stored>(value); }
};
struct Float32 {
  using Stored = uint32_t;
  static double value(Stored stored) { return static_cast<double>(std::bit_cast<float>(stored)); }
  static Stored stored(double value) { return std::bit_cast<Stored>(static_cast<float>(value)); }
};
struct Float16 {
  using Stored = uint16_t;
  static double value(Stored stored) { return static_cast<double>(floatFromF16(stored)); }
  static Stored stored(double value) { return f16FromFloat(roundedToOdd(value)); }
};
struct BFloat16 {
  using Stored = uint16_t;
  static double value(Stored stored) { return static_cast<double>(floatFromBf16(stored)); }
  static Stored stored(double value) { return bf16FromFloat(roundedToOdd(value)); }
};

template <typename From, typename To>
FloatChanges convert(const std::byte *source, std::byte *into, int64_t count) {
  FloatChanges changes;
  for (int64_t i = 0; i < count; ++i) {
    const double before = From::value(load<typename From::Stored>(source, i));
    const typename To::Stored stored = To::stored(before);
    std::memcpy(into + i * static_cast<int64_t>(sizeof(stored)), &stored, sizeof(stored));
    const double after = To::value(stored);
    if (after == before || std::isnan(before))
      continue;
    ++changes.rounded;
    if (!std::isinf(after))
      continue;
    if (changes.overflowed++ == 0)
      changes.firstOverflow = i;
  }
  return changes;
}

/// Calls `body` with the float type as a type of C++.
template <typename Body> FloatChanges withFloat(DType type, const Body &body) {
  switch (type) {
  case DType::F64:
    return body(Float64());
  case DType::F32:
    return body(Float32());
  case DType::F16:
    return body(Float16());
  case DType::BF16:
    return body(BFloat16());
  case DType::I1:
  case DType::I32:
  case DType::I64:
    break;
  }
  return {};
}

} // namespace

bool isNumber(SafetensorsType type) { return type <= SafetensorsType::U8; }

double elementValue(SafetensorsType type, const std::byte *elements, int64_t index) {
  switch (type) {
  case SafetensorsType::F64:
    return load<double>(elements, index);
  case SafetensorsType::F32:
    return static_cast<double>(load<float>(elements, index));
  case SafetensorsType::F16:
    return static_cast<double>(floatFromF16(load<uint16_t>(elements, index)));
  case SafetensorsType::BF16:
    return static_cast<double>(floatFromBf16(load<uint16_t>(elements, index)));
  case SafetensorsType::I64:
    return static_cast<double>(load<int64_t>(elements, index));
  case SafetensorsType::I32:
    return load<int32_t>(elements, index);
  case SafetensorsType::I16:
    return load<int16_t>(elements, index);
  case SafetensorsType::I8:
    return load<int8_t>(elements, index);
  case SafetensorsType::U64:
    return static_cast<double>(load<uint64_t>(elements, index));
  case SafetensorsType::U32:
    return load<uint32_t>(elements, index);
  case SafetensorsType::U16:
    return load<uint16_t>(elements, index);
  case SafetensorsType::U8:
  case SafetensorsType::Bool:
    return load<uint8_t>(elements, index);
  case SafetensorsType::C64:
  case SafetensorsType::F8E5M2:
  case SafetensorsType::F8E4M3:
  case SafetensorsType::F8E8M0:
  case SafetensorsType::F8E5M2FNUZ:
  case SafetensorsType::F8E4M3FNUZ:
  case SafetensorsType::F6E3M2:
  case SafetensorsType::F6E2M3:
  case SafetensorsType::F4:
    break;
  }
  return 0;
}

void FloatChanges::add(const FloatChanges &later, int64_t elementsBefore) {
  if (overflowed == 0 && later.overflowed > 0)
    firstOverflow = elementsBefore + later.firstOverflow;
  rounded += later.rounded;
  overflowed += later.overflowed;
}

FloatChanges convertFloats(DType from, const std::byte *source, DType to, std::byte *into, int64_t count) {
  if (from == to) {
    std::memcpy(into, source, static_cast<size_t>(count * byteSize(from)));
    return {};
  }
  return withFloat(from, [&](auto fromFloat) {
    return withFloat(to, [&](auto toFloat) {
      return convert<decltype(fromFloat), decltype(toFloat)>(source, into, count);
    });
  });
}

} // namespace weft::checkpoint
