//===- ElementwiseFunctions-inl.h - Functions of element-wise programs -----===//
//
// The instructions that are more than one instruction of the machine: elementary functions of float32 vectors
// with the C function that serves float64, and what only single elements have. Both the interpreter of blocks
// and generated kernels are made of these. Included once per instruction set; the guard is Highway's.
//
//===----------------------------------------------------------------------===//
#if defined(WEFT_KERNELS_CPU_ELEMENTWISEFUNCTIONS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_KERNELS_CPU_ELEMENTWISEFUNCTIONS_INL_H
#undef WEFT_KERNELS_CPU_ELEMENTWISEFUNCTIONS_INL_H
#else
#define WEFT_KERNELS_CPU_ELEMENTWISEFUNCTIONS_INL_H
#endif

#include "kernels/cpu/VectorMath-inl.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace weft::cpu::HWY_NAMESPACE {

template <typename T> constexpr bool isFloating = std::is_floating_point_v<T>;

/// Functions of float32 vectors, with the C function that serves float64.
#define WEFT_VECTOR_FUNCTION(Name, vectorFunction, scalarFunction)                                           \
  struct Name {                                                                                              \
    template <class D, class V> static HWY_INLINE V apply(D d, V x) { return vectorFunction; }               \
    static HWY_INLINE double scalar(double x) { return scalarFunction; }                                     \
  };
WEFT_VECTOR_FUNCTION(Exp, vectorExp(d, x), std::exp(x))
WEFT_VECTOR_FUNCTION(Log, vectorLog(d, x), std::log(x))
WEFT_VECTOR_FUNCTION(Sqrt, hn::Sqrt(x), std::sqrt(x))
WEFT_VECTOR_FUNCTION(Rsqrt, hn::Div(hn::Set(d, 1.0f), hn::Sqrt(x)), 1.0 / std::sqrt(x))
WEFT_VECTOR_FUNCTION(Tanh, vectorTanh(d, x), std::tanh(x))
WEFT_VECTOR_FUNCTION(Sigmoid, vectorSigmoid(d, x), 1.0 / (1.0 + std::exp(-x)))
WEFT_VECTOR_FUNCTION(Sin, vectorSin(d, x), std::sin(x))
WEFT_VECTOR_FUNCTION(Cos, vectorCos(d, x), std::cos(x))
WEFT_VECTOR_FUNCTION(Erf, vectorErf(d, x), std::erf(x))
WEFT_VECTOR_FUNCTION(Floor, hn::Floor(x), std::floor(x))
#undef WEFT_VECTOR_FUNCTION

struct Remainder {
  template <typename T> static HWY_INLINE T apply(T a, T b) {
    if constexpr (isFloating<T>)
      return std::fmod(a, b);
    else
      return b == 0 || b == -1 ? T{0} : a % b;
  }
};
struct Power {
  template <typename T> static HWY_INLINE T apply(T a, T b) { return std::pow(a, b); }
};

/// The float32 that a bf16 or f16 is rounded from must not have been rounded to even before, when a wider
/// number is cast to them: the first rounding is to odd.
HWY_INLINE float roundToOdd(double x) {
  float rounded = static_cast<float>(x);
  if (static_cast<double>(rounded) == x || rounded - rounded != 0)
    return rounded;
  uint32_t bits = std::bit_cast<uint32_t>(rounded);
  if ((bits & 1u) != 0)
    return rounded;
  // Even and inexact: the neighbor on the other side of x is odd. Magnitudes order like their bits.
  double stored = rounded;
  bool tooLarge = x < 0 ? stored < x : stored > x;
  return std::bit_cast<float>(tooLarge ? bits - 1 : bits + 1);
}
/// Sign and the upper 53 bits of an integer, its lower bits folded into the last one.
HWY_INLINE double roundToOdd(int64_t x) {
  uint64_t magnitude = x < 0 ? uint64_t{0} - static_cast<uint64_t>(x) : static_cast<uint64_t>(x);
  if (magnitude >> 53) {
    uint64_t folded = (magnitude & 0x7FFu) != 0 ? 0x800u : 0u;
    magnitude = (magnitude & ~uint64_t{0x7FFu}) | folded;
  }
  double value = static_cast<double>(magnitude);
  return x < 0 ? -value : value;
}

} // namespace weft::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif // per-target guard
