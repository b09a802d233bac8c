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

constexpr std::array<std::string_view, 5> kNames = {"sum", "max", "min", "lse", "tree"};
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

constexpr int64_t kTreeBlock = 256; ///< elements that each level of a tree keeps on the stack

/// The tree of all sources at one block, rounded to the element type after each addition.
template <typename Element>
void foldSubtree(std::span<const void *const> sources, int64_t offset, typename Element::Stored *so,
                 int64_t size) {
  using Stored = typename Element::Stored;
  auto add = [&](const Stored *next) {
    for (int64_t i = 0; i < size; ++i)
      so[i] = Element::store(combine<ReduceKind::Sum>(Element::load(so[i]), Element::load(next[i])));
  };
  auto leaf = [&](size_t source) {
    return reinterpret_cast<const Stored *>(static_cast<const std::byte *>(sources[source]) + offset);
  };
  if (sources.size() % 2 != 0) {
    std::copy(leaf(0), leaf(0) + size, so);
    for (size_t source = 1; source < sources.size(); ++source)
      add(leaf(source));
    return;
  }
  size_t half = sources.size() / 2;
  foldSubtree<Element>(sources.first(half), offset, so, size);
  Stored next[kTreeBlock];
  foldSubtree<Element>(sources.subspan(half), offset, next, size);
  add(next);
}

template <typename Element>
void foldTree(std::span<const void *const> sources, int64_t offset, void *result, int64_t count) {
  using Stored = typename Element::Stored;
  constexpr int64_t width = static_cast<int64_t>(sizeof(Stored));
  for (int64_t begin = 0; begin < count; begin += kTreeBlock) {
    int64_t size = std::min(kTreeBlock, count - begin);
    Stored block[kTreeBlock]; // the result may be a source that is still to be read
    foldSubtree<Element>(sources, offset + begin * width, block, size);
    std::copy(block, block + size, static_cast<Stored *>(result) + begin);
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
    return nullptr;
  case ReduceKind::Tree:
    return foldTree<Element>;
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
    return kind == ReduceKind::Sum || kind == ReduceKind::Tree ? nullptr : select<Plain<uint8_t>>(kind);
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
