//===- ElementwiseLoops.cpp - One loop for each instruction and type ------===//
//
// Arithmetic is written as plain loops over disjoint arrays, which the compiler vectorizes for each
// instruction set; elementary functions of float32 are Highway code. Functions of float64 are the C
// library's.
//
//===----------------------------------------------------------------------===//
#include "kernels/cpu/ElementwiseLoops.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/ElementwiseLoops.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#include "kernels/cpu/ElementwiseFunctions-inl.h"
#include "kernels/cpu/Float16-inl.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace weft::cpu::HWY_NAMESPACE {
namespace {

// The instructions, as functions of single elements. Overflow of integers wraps, so they compute unsigned.
template <typename T> using Wrapping = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

struct Negate {
  template <typename T> static HWY_INLINE T apply(T a) {
    if constexpr (isFloating<T>)
      return -a;
    else
      return static_cast<T>(Wrapping<T>{0} - static_cast<Wrapping<T>>(a));
  }
};
struct Abs {
  template <typename T> static HWY_INLINE T apply(T a) {
    if constexpr (isFloating<T>)
      return a != a ? a : (a > 0 ? a : T{0} - a);
    else
      return a < 0 ? Negate::apply(a) : a;
  }
};
struct Sign {
  template <typename T> static HWY_INLINE T apply(T a) { return a > 0 ? T{1} : (a < 0 ? T{-1} : a); }
};
struct Not {
  template <typename T> static HWY_INLINE T apply(T a) { return ~a; }
};
struct LogicalNot {
  template <typename T> static HWY_INLINE T apply(T a) { return a ^ 1; }
};
struct IsFinite {
  template <typename T> static HWY_INLINE int32_t apply(T a) { return a - a == 0 ? 1 : 0; }
};
struct Add {
  template <typename T> static HWY_INLINE T apply(T a, T b) {
    if constexpr (isFloating<T>)
      return a + b;
    else
      return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
  }
};
struct Subtract {
  template <typename T> static HWY_INLINE T apply(T a, T b) {
    if constexpr (isFloating<T>)
      return a - b;
    else
      return static_cast<T>(static_cast<Wrapping<T>>(a) - static_cast<Wrapping<T>>(b));
  }
};
struct Multiply {
  template <typename T> static HWY_INLINE T apply(T a, T b) {
    if constexpr (isFloating<T>)
      return a * b;
    else
      return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
  }
};
struct Divide {
  template <typename T> static HWY_INLINE T apply(T a, T b) {
    if constexpr (isFloating<T>)
      return a / b;
    else
      return b == 0 ? T{0} : (b == -1 ? Negate::apply(a) : a / b);
  }
};
struct Maximum {
  template <typename T> static HWY_INLINE T apply(T a, T b) { return a > b || a != a ? a : b; }
};
struct Minimum {
  template <typename T> static HWY_INLINE T apply(T a, T b) { return a < b || a != a ? a : b; }
};
struct And {
  template <typename T> static HWY_INLINE T apply(T a, T b) { return a & b; }
};
struct Or {
  template <typename T> static HWY_INLINE T apply(T a, T b) { return a | b; }
};
struct Equal {
  template <typename T> static HWY_INLINE int32_t apply(T a, T b) { return a == b; }
};
struct NotEqual {
  template <typename T> static HWY_INLINE int32_t apply(T a, T b) { return a != b; }
};
struct Less {
  template <typename T> static HWY_INLINE int32_t apply(T a, T b) { return a < b; }
};
struct LessEqual {
  template <typename T> static HWY_INLINE int32_t apply(T a, T b) { return a <= b; }
};

// The rounding of a result register to its type.
struct AsIs {
  template <typename T> static HWY_INLINE void round(T *, int64_t) {}
};
struct ToBf16 {
  static HWY_INLINE void round(float *values, int64_t count) { roundAllToBf16(values, count); }
};
struct ToF16 {
  static HWY_INLINE void round(float *values, int64_t count) { roundAllToF16(values, count); }
};

// The loops.
template <class Op, typename T, class Rounding>
void unaryLoop(void *result, const void *a, const void *, const void *, int64_t count) {
  using Out = decltype(Op::apply(T{}));
  auto *HWY_RESTRICT out = static_cast<Out *>(result);
  auto *HWY_RESTRICT in = static_cast<const T *>(a);
  for (int64_t i = 0; i < count; ++i)
    out[i] = Op::apply(in[i]);
  Rounding::round(out, count);
}

template <class Op, typename T, class Rounding>
void binaryLoop(void *result, const void *a, const void *b, const void *, int64_t count) {
  using Out = decltype(Op::apply(T{}, T{}));
  auto *HWY_RESTRICT out = static_cast<Out *>(result);
  auto *HWY_RESTRICT left = static_cast<const T *>(a);
  auto *HWY_RESTRICT right = static_cast<const T *>(b);
  for (int64_t i = 0; i < count; ++i)
    out[i] = Op::apply(left[i], right[i]);
  Rounding::round(out, count);
}

/// a > b is b < a: the loop with its sources exchanged.
template <class Op, typename T>
void exchangedLoop(void *result, const void *a, const void *b, const void *, int64_t count) {
  binaryLoop<Op, T, AsIs>(result, b, a, nullptr, count);
}

template <typename T>
void selectLoop(void *result, const void *a, const void *b, const void *c, int64_t count) {
  auto *HWY_RESTRICT out = static_cast<T *>(result);
  auto *HWY_RESTRICT condition = static_cast<const int32_t *>(a);
  auto *HWY_RESTRICT then = static_cast<const T *>(b);
  auto *HWY_RESTRICT otherwise = static_cast<const T *>(c);
  for (int64_t i = 0; i < count; ++i) {
    T x = then[i], y = otherwise[i];
    out[i] = condition[i] != 0 ? x : y;
  }
}

template <class Op, class Rounding>
void functionLoop(void *result, const void *a, const void *, const void *, int64_t count) {
  const hn::ScalableTag<float> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  auto *HWY_RESTRICT out = static_cast<float *>(result);
  auto *HWY_RESTRICT in = static_cast<const float *>(a);
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes)
    hn::StoreU(Op::apply(d, hn::LoadU(d, in + i)), d, out + i);
  if (i < count) {
    HWY_ALIGN float few[hn::MaxLanes(d)] = {};
    std::memcpy(few, in + i, static_cast<size_t>(count - i) * sizeof(float));
    hn::Store(Op::apply(d, hn::Load(d, few)), d, few);
    std::memcpy(out + i, few, static_cast<size_t>(count - i) * sizeof(float));
  }
  Rounding::round(out, count);
}

template <class Op>
void functionLoopF64(void *result, const void *a, const void *, const void *, int64_t count) {
  auto *out = static_cast<double *>(result);
  auto *in = static_cast<const double *>(a);
  for (int64_t i = 0; i < count; ++i)
    out[i] = Op::scalar(in[i]);
}

// Casts.
template <typename From, typename To> HWY_INLINE To castElement(From x) {
  if constexpr (isFloating<From> && !isFloating<To>) {
    constexpr From kLow = static_cast<From>(std::numeric_limits<To>::min());
    if (x != x)
      return To{0};
    if (x < kLow)
      return std::numeric_limits<To>::min();
    return x >= -kLow ? std::numeric_limits<To>::max() : static_cast<To>(x);
  } else {
    return static_cast<To>(x);
  }
}

template <typename From, typename To, class Rounding>
void castLoop(void *result, const void *a, const void *, const void *, int64_t count) {
  auto *HWY_RESTRICT out = static_cast<To *>(result);
  auto *HWY_RESTRICT in = static_cast<const From *>(a);
  if constexpr (std::is_same_v<Rounding, AsIs> || std::is_same_v<From, float>) {
    for (int64_t i = 0; i < count; ++i)
      out[i] = castElement<From, To>(in[i]);
  } else {
    for (int64_t i = 0; i < count; ++i)
      if constexpr (std::is_same_v<From, int64_t>)
        out[i] = roundToOdd(roundToOdd(in[i]));
      else
        out[i] = roundToOdd(static_cast<double>(in[i]));
  }
  Rounding::round(out, count);
}

template <typename From>
void castToI1Loop(void *result, const void *a, const void *, const void *, int64_t count) {
  auto *HWY_RESTRICT out = static_cast<int32_t *>(result);
  auto *HWY_RESTRICT in = static_cast<const From *>(a);
  for (int64_t i = 0; i < count; ++i)
    out[i] = in[i] != From{0};
}

template <int kBytes> void copyLoop(void *result, const void *a, const void *, const void *, int64_t count) {
  std::memcpy(result, a, static_cast<size_t>(count) * kBytes);
}

// The choice of a loop by its types.
template <class Op> ElementwiseLoop numberLoop(DType type) {
  switch (type) {
  case DType::F32:
    return unaryLoop<Op, float, AsIs>;
  case DType::BF16: // negation, absolute value and sign of a bf16 or f16 are exact
  case DType::F16:
    return unaryLoop<Op, float, AsIs>;
  case DType::F64:
    return unaryLoop<Op, double, AsIs>;
  case DType::I64:
    return unaryLoop<Op, int64_t, AsIs>;
  default:
    return unaryLoop<Op, int32_t, AsIs>;
  }
}

template <class Op> ElementwiseLoop arithmeticLoop(DType type) {
  switch (type) {
  case DType::F32:
    return binaryLoop<Op, float, AsIs>;
  case DType::BF16:
    return binaryLoop<Op, float, ToBf16>;
  case DType::F16:
    return binaryLoop<Op, float, ToF16>;
  case DType::F64:
    return binaryLoop<Op, double, AsIs>;
  case DType::I64:
    return binaryLoop<Op, int64_t, AsIs>;
  default:
    return binaryLoop<Op, int32_t, AsIs>;
  }
}

template <class Op> ElementwiseLoop floatArithmeticLoop(DType type) {
  switch (type) {
  case DType::BF16:
    return binaryLoop<Op, float, ToBf16>;
  case DType::F16:
    return binaryLoop<Op, float, ToF16>;
  case DType::F64:
    return binaryLoop<Op, double, AsIs>;
  default:
    return binaryLoop<Op, float, AsIs>;
  }
}

template <class Op> ElementwiseLoop vectorLoop(DType type) {
  switch (type) {
  case DType::BF16:
    return functionLoop<Op, ToBf16>;
  case DType::F16:
    return functionLoop<Op, ToF16>;
  case DType::F64:
    return functionLoopF64<Op>;
  default:
    return functionLoop<Op, AsIs>;
  }
}

template <class Op> ElementwiseLoop bitsLoop(DType type) {
  return type == DType::I64 ? binaryLoop<Op, int64_t, AsIs> : binaryLoop<Op, int32_t, AsIs>;
}

template <class Op> ElementwiseLoop compareLoop(DType source) {
  switch (source) {
  case DType::F64:
    return binaryLoop<Op, double, AsIs>;
  case DType::I64:
    return binaryLoop<Op, int64_t, AsIs>;
  case DType::I32:
  case DType::I1:
    return binaryLoop<Op, int32_t, AsIs>;
  default:
    return binaryLoop<Op, float, AsIs>;
  }
}

template <class Op> ElementwiseLoop exchangedCompareLoop(DType source) {
  switch (source) {
  case DType::F64:
    return exchangedLoop<Op, double>;
  case DType::I64:
    return exchangedLoop<Op, int64_t>;
  case DType::I32:
  case DType::I1:
    return exchangedLoop<Op, int32_t>;
  default:
    return exchangedLoop<Op, float>;
  }
}

template <typename From> ElementwiseLoop castLoopFrom(DType to) {
  switch (to) {
  case DType::I1:
    return castToI1Loop<From>;
  case DType::I32:
    return castLoop<From, int32_t, AsIs>;
  case DType::I64:
    return castLoop<From, int64_t, AsIs>;
  case DType::BF16:
    return castLoop<From, float, ToBf16>;
  case DType::F16:
    return castLoop<From, float, ToF16>;
  case DType::F32:
    return castLoop<From, float, AsIs>;
  case DType::F64:
    return castLoop<From, double, AsIs>;
  }
  return nullptr;
}

ElementwiseLoop castLoopOf(DType from, DType to) {
  switch (from) {
  case DType::F64:
    return castLoopFrom<double>(to);
  case DType::I64:
    return castLoopFrom<int64_t>(to);
  case DType::I1:
  case DType::I32:
    return castLoopFrom<int32_t>(to);
  default:
    return castLoopFrom<float>(to);
  }
}

ElementwiseLoop findUnary(ElementwiseOp op, DType result, DType source) {
  switch (op) {
  case ElementwiseOp::Negate:
    return numberLoop<Negate>(result);
  case ElementwiseOp::Abs:
    return numberLoop<Abs>(result);
  case ElementwiseOp::Sign:
    return numberLoop<Sign>(result);
  case ElementwiseOp::Exp:
    return vectorLoop<Exp>(result);
  case ElementwiseOp::Log:
    return vectorLoop<Log>(result);
  case ElementwiseOp::Sqrt:
    return vectorLoop<Sqrt>(result);
  case ElementwiseOp::Rsqrt:
    return vectorLoop<Rsqrt>(result);
  case ElementwiseOp::Tanh:
    return vectorLoop<Tanh>(result);
  case ElementwiseOp::Sigmoid:
    return vectorLoop<Sigmoid>(result);
  case ElementwiseOp::Sin:
    return vectorLoop<Sin>(result);
  case ElementwiseOp::Cos:
    return vectorLoop<Cos>(result);
  case ElementwiseOp::Erf:
    return vectorLoop<Erf>(result);
  case ElementwiseOp::Floor:
    return vectorLoop<Floor>(result);
  case ElementwiseOp::IsFinite:
    return source == DType::F64 ? unaryLoop<IsFinite, double, AsIs> : unaryLoop<IsFinite, float, AsIs>;
  case ElementwiseOp::Not:
    return result == DType::I1    ? unaryLoop<LogicalNot, int32_t, AsIs>
           : result == DType::I64 ? unaryLoop<Not, int64_t, AsIs>
                                  : unaryLoop<Not, int32_t, AsIs>;
  case ElementwiseOp::Cast:
    return castLoopOf(source, result);
  case ElementwiseOp::Bitcast:
    return registerByteSize(result) == 8 ? copyLoop<8> : copyLoop<4>;
  default:
    return nullptr;
  }
}

ElementwiseLoop findLoop(ElementwiseOp op, DType result, DType source) {
  switch (op) {
  case ElementwiseOp::Add:
    return arithmeticLoop<Add>(result);
  case ElementwiseOp::Subtract:
    return arithmeticLoop<Subtract>(result);
  case ElementwiseOp::Multiply:
    return arithmeticLoop<Multiply>(result);
  case ElementwiseOp::Divide:
    return arithmeticLoop<Divide>(result);
  case ElementwiseOp::Remainder:
    return arithmeticLoop<Remainder>(result);
  case ElementwiseOp::Maximum:
    return arithmeticLoop<Maximum>(result);
  case ElementwiseOp::Minimum:
    return arithmeticLoop<Minimum>(result);
  case ElementwiseOp::Power:
    return floatArithmeticLoop<Power>(result);
  case ElementwiseOp::And:
    return bitsLoop<And>(result);
  case ElementwiseOp::Or:
    return bitsLoop<Or>(result);
  case ElementwiseOp::Equal:
    return compareLoop<Equal>(source);
  case ElementwiseOp::NotEqual:
    return compareLoop<NotEqual>(source);
  case ElementwiseOp::Less:
    return compareLoop<Less>(source);
  case ElementwiseOp::LessEqual:
    return compareLoop<LessEqual>(source);
  case ElementwiseOp::Greater:
    return exchangedCompareLoop<Less>(source);
  case ElementwiseOp::GreaterEqual:
    return exchangedCompareLoop<LessEqual>(source);
  case ElementwiseOp::Select:
    return registerByteSize(result) == 8 ? selectLoop<int64_t> : selectLoop<int32_t>;
  default:
    return findUnary(op, result, source);
  }
}

// Memory to registers and back.
template <typename Stored, typename Register, Register (*convert)(Stored)>
void loadLoop(void *result, const void *source, int64_t stride, int64_t count) {
  auto *HWY_RESTRICT out = static_cast<Register *>(result);
  auto *HWY_RESTRICT in = static_cast<const Stored *>(source);
  if (stride == 0) {
    Register value = convert(in[0]);
    for (int64_t i = 0; i < count; ++i)
      out[i] = value;
  } else if (stride == 1) {
    for (int64_t i = 0; i < count; ++i)
      out[i] = convert(in[i]);
  } else {
    for (int64_t i = 0; i < count; ++i)
      out[i] = convert(in[i * stride]);
  }
}
template <typename T> HWY_INLINE T same(T x) { return x; }
HWY_INLINE int32_t widenI1(uint8_t x) { return x != 0; }
HWY_INLINE float widenBf16(uint16_t x) { return bf16ToFloat(x); }

void loadLoopF16(void *result, const void *source, int64_t stride, int64_t count) {
  auto *out = static_cast<float *>(result);
  auto *in = static_cast<const uint16_t *>(source);
  if (stride == 1) {
    loadF16(out, in, count);
    return;
  }
  for (int64_t i = 0; i < count; ++i)
    if (i == 0 || stride != 0)
      loadF16(out + i, in + i * stride, 1);
    else
      out[i] = out[0];
}

LoadLoop findLoad(DType stored) {
  switch (stored) {
  case DType::I1:
    return loadLoop<uint8_t, int32_t, widenI1>;
  case DType::BF16:
    return loadLoop<uint16_t, float, widenBf16>;
  case DType::F16:
    return loadLoopF16;
  case DType::I64:
  case DType::F64:
    return loadLoop<int64_t, int64_t, same<int64_t>>;
  default:
    return loadLoop<int32_t, int32_t, same<int32_t>>;
  }
}

void storeLoopI1(void *result, const void *source, int64_t count) {
  auto *HWY_RESTRICT out = static_cast<uint8_t *>(result);
  auto *HWY_RESTRICT in = static_cast<const int32_t *>(source);
  for (int64_t i = 0; i < count; ++i)
    out[i] = static_cast<uint8_t>(in[i]);
}
void storeLoopBf16(void *result, const void *source, int64_t count) {
  storeBf16(static_cast<uint16_t *>(result), static_cast<const float *>(source), count);
}
void storeLoopF16(void *result, const void *source, int64_t count) {
  storeF16(static_cast<uint16_t *>(result), static_cast<const float *>(source), count);
}
template <int kBytes> void storeLoopAsIs(void *result, const void *source, int64_t count) {
  std::memcpy(result, source, static_cast<size_t>(count) * kBytes);
}

StoreLoop findStore(DType stored) {
  switch (stored) {
  case DType::I1:
    return storeLoopI1;
  case DType::BF16:
    return storeLoopBf16;
  case DType::F16:
    return storeLoopF16;
  default:
    return registerByteSize(stored) == 8 ? storeLoopAsIs<8> : storeLoopAsIs<4>;
  }
}

} // namespace
} // namespace weft::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace weft::cpu {
HWY_EXPORT(findLoop);
HWY_EXPORT(findLoad);
HWY_EXPORT(findStore);

ElementwiseLoop findInstructionLoop(ElementwiseOp op, DType result, DType source) {
  return HWY_DYNAMIC_DISPATCH(findLoop)(op, result, source);
}
LoadLoop findLoadLoop(DType stored) { return HWY_DYNAMIC_DISPATCH(findLoad)(stored); }
StoreLoop findStoreLoop(DType stored) { return HWY_DYNAMIC_DISPATCH(findStore)(stored); }
} // namespace weft::cpu
#endif // HWY_ONCE
