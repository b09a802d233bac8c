//===- Fold.cpp - Reductions over the ranks of a group --------------------===//
//
// In blocks that stay in the first-level cache, so each source is read once and the result written once.
//
//===----------------------------------------------------------------------===//
#include "kernels/collective/Fold.h"

#include "kernels/collective/NarrowFloats.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>

namespace weft {
namespace {

constexpr std::array<std::string_view, 4> kNames = {"sum", "max", "min", "lse"};
constexpr int64_t kBlock = 1024; ///< elements in registers' form at a time

/// How elements are stored, and what they are combined as.
template <typename Number> struct Plain {
  using Stored = Number;
  using Combined = Number;
  static Number load(Number stored) { return stored; }
  static Number store(Number value) { return value; }
};
struct Bf16 {
  using Stored = uint16_t;
  using Combined = float;
  static float load(uint16_t stored) { return floatFromBf16(stored); }
  static uint16_t store(float value) { return bf16FromFloat(value); }
};
struct F16 {
  using Stored = uint16_t;
  using Combined = float;
  static float load(uint16_t stored) { return floatFromF16(stored); }
  static uint16_t store(float value) { return f16FromFloat(value); }
};

/// Minus infinity is the empty sum; of two equal infinities min - max would be no number.
template <typename Number> Number combineLogarithms(Number so, Number next) {
  if (so != so || next != next)
    return so + next;
  Number most = std::max(so, next), least = std::min(so, next);
  return std::isinf(most) ? most : most + std::log1p(std::exp(least - most));
}

template <ReduceKind kind, typename Number> Number combine(Number so, Number next) {
  if constexpr (kind == ReduceKind::Sum && std::is_floating_point_v<Number>)
    return so + next;
  else if constexpr (kind == ReduceKind::Sum)
    return static_cast<Number>(static_cast<std::make_unsigned_t<Number>>(so) +
                               static_cast<std::make_unsigned_t<Number>>(next));
  else if constexpr (kind == ReduceKind::Max)
    return next > so || next != next ? next : so; // a NaN in `so` stays: nothing is greater
  else if constexpr (kind == ReduceKind::Min)
    return next < so || next != next ? next : so;
  else
    return combineLogarithms(so, next);
}

template <typename Element, ReduceKind kind>
void fold(std::span<const void *const> sources, int64_t offset, void *result, int64_t count) {
  using Stored = typename Element::Stored;
  typename Element::Combined block[kBlock];
  auto from = [&](size_t source) {
    return reinterpret_cast<const Stored *>(static_cast<const std::byte *>(sources[source]) + offset);
  };
  for (int64_t begin = 0; begin < count; begin += kBlock) {
    int64_t size = std::min(kBlock, count - begin);
    const Stored *first = from(0) + begin;
    for (int64_t i = 0; i < size; ++i)
      block[i] = Element::load(first[i]);
    for (size_t source = 1; source < sources.size(); ++source) {
      const Stored *next = from(source) + begin;
      for (int64_t i = 0; i < size; ++i)
        block[i] = combine<kind>(block[i], Element::load(next[i]));
    }
    Stored *to = static_cast<Stored *>(result) + begin;
    for (int64_t i = 0; i < size; ++i)
      to[i] = Element::store(block[i]);
  }
}

template <typename Element> FoldFunction select(ReduceKind kind) {
  switch (kind) {
  case ReduceKind::Sum:
    return fold<Element, ReduceKind::Sum>;
  case ReduceKind::Max:
    return fold<Element, ReduceKind::Max>;
  case ReduceKind::Min:
    return fold<Element, ReduceKind::Min>;
  case ReduceKind::LogSumExp:
    if constexpr (std::is_floating_point_v<typename Element::Combined>)
      return fold<Element, ReduceKind::LogSumExp>;
  }
  return nullptr;
}

} // namespace

std::string_view name(ReduceKind kind) { return kNames[static_cast<size_t>(kind)]; }

std::optional<ReduceKind> reduceKindFromName(std::string_view name) {
  auto found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end())
    return std::nullopt;
  return static_cast<ReduceKind>(found - kNames.begin());
}

FoldFunction findFold(ReduceKind kind, DType type) {
  switch (type) {
  case DType::I1:
    return kind == ReduceKind::Sum ? nullptr : select<Plain<uint8_t>>(kind);
  case DType::I32:
    return select<Plain<int32_t>>(kind);
  case DType::I64:
    return select<Plain<int64_t>>(kind);
  case DType::BF16:
    return select<Bf16>(kind);
  case DType::F16:
    return select<F16>(kind);
  case DType::F32:
    return select<Plain<float>>(kind);
  case DType::F64:
    return select<Plain<double>>(kind);
  }
  return nullptr;
}

} // namespace weft
