//===- VectorMath-inl.h - Elementary functions over float32 vectors -------===//
//
// What the functions of Highway's math library leave open is closed here: every float32 is a legal argument,
// NaN gives NaN, infinities and overflow give what C's functions give. Errors against the exact value,
// measured over the whole range by tests: exp 1 ulp, log 4, tanh 4, sin and cos 3 (absolute 1e-6 near their
// zeros beyond |x| = 100), erf 4, sigmoid 4 where the result is above 1e-37. Included once per instruction
// set; the guard is Highway's.
//
//===----------------------------------------------------------------------===//
#if defined(WEFT_KERNELS_CPU_VECTORMATH_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_KERNELS_CPU_VECTORMATH_INL_H
#undef WEFT_KERNELS_CPU_VECTORMATH_INL_H
#else
#define WEFT_KERNELS_CPU_VECTORMATH_INL_H
#endif

#include "hwy/contrib/math/math-inl.h"
#include "hwy/highway.h"

#include <cmath>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace weft::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// e^x. Overflow gives infinity, underflow denormals and then 0.
template <class D, class V = hn::Vec<D>> HWY_INLINE V vectorExp(D d, V x) {
  V bounded = hn::Min(hn::Max(x, hn::Set(d, -104.0f)), hn::Set(d, 89.0f));
  V result = hn::Exp(d, bounded);
  result = hn::IfThenElse(hn::Gt(x, hn::Set(d, 88.722839f)),
                          hn::Set(d, std::numeric_limits<float>::infinity()), result);
  return hn::IfThenElse(hn::IsNaN(x), x, result);
}

/// Natural logarithm. 0 gives -infinity, a negative number NaN.
template <class D, class V = hn::Vec<D>> HWY_INLINE V vectorLog(D d, V x) {
  V infinity = hn::Set(d, std::numeric_limits<float>::infinity());
  V result = hn::Log(d, x);
  result = hn::IfThenElse(hn::Eq(x, infinity), infinity, result);
  result = hn::IfThenElse(hn::Eq(x, hn::Zero(d)), hn::Neg(infinity), result);
  result =
      hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Set(d, std::numeric_limits<float>::quiet_NaN()), result);
  return hn::IfThenElse(hn::IsNaN(x), x, result);
}

template <class D, class V = hn::Vec<D>> HWY_INLINE V vectorTanh(D d, V x) {
  V bounded = hn::Min(hn::Max(x, hn::Set(d, -20.0f)), hn::Set(d, 20.0f));
  V result = hn::Tanh(d, bounded);
  // Below 2^-12 the cubic term is under half an ulp.
  result = hn::IfThenElse(hn::Lt(hn::Abs(x), hn::Set(d, 0x1p-12f)), x, result);
  return hn::IfThenElse(hn::IsNaN(x), x, result);
}

/// 1 / (1 + e^-x); 0 once e^-x overflows.
template <class D, class V = hn::Vec<D>> HWY_INLINE V vectorSigmoid(D d, V x) {
  V one = hn::Set(d, 1.0f);
  return hn::Div(one, hn::Add(one, vectorExp(d, hn::Neg(x))));
}

/// A function of single lanes, for the rare vectors with a lane beyond the range of the fast way.
template <class D, class V = hn::Vec<D>> HWY_NOINLINE V laneByLane(D d, V x, float (*function)(float)) {
  HWY_ALIGN float lanes[hn::MaxLanes(d)];
  hn::Store(x, d, lanes);
  for (size_t i = 0; i < hn::Lanes(d); ++i)
    lanes[i] = function(lanes[i]);
  return hn::Load(d, lanes);
}
inline float sinOfLane(float x) { return std::sin(x); }
inline float cosOfLane(float x) { return std::cos(x); }

/// Which lanes the fast way serves: not NaN and not infinity. The bits of a lane are its own affair, whatever
/// the others of its vector hold: who forms the vectors may form others.
template <class D, class V = hn::Vec<D>> HWY_INLINE hn::Mask<D> isWithinTrigonometricRange(D d, V x) {
  return hn::Le(hn::Abs(x), hn::Set(d, 30000.0f));
}

template <class D, class V = hn::Vec<D>> HWY_INLINE V vectorSin(D d, V x) {
  const hn::Mask<D> fast = isWithinTrigonometricRange(d, x);
  V result = hn::Sin(d, hn::IfThenElseZero(fast, x));
  return hn::AllTrue(d, fast) ? result : hn::IfThenElse(fast, result, laneByLane(d, x, sinOfLane));
}

template <class D, class V = hn::Vec<D>> HWY_INLINE V vectorCos(D d, V x) {
  const hn::Mask<D> fast = isWithinTrigonometricRange(d, x);
  V result = hn::Cos(d, hn::IfThenElseZero(fast, x));
  return hn::AllTrue(d, fast) ? result : hn::IfThenElse(fast, result, laneByLane(d, x, cosOfLane));
}

/// erf(x): x P(x^2) up to 1, then 1 - e^(-x^2) Q(1/x^2)/x with one Q below and one above 2 (the polynomials
/// are those of Moshier's Cephes library, ndtrf).
template <class D, class V = hn::Vec<D>> HWY_INLINE V vectorErf(D d, V x) {
  auto polynomial = [d](V z, const float *coefficients, int count) HWY_ATTR {
    V sum = hn::Set(d, coefficients[0]);
    for (int i = 1; i < count; ++i)
      sum = hn::MulAdd(sum, z, hn::Set(d, coefficients[i]));
    return sum;
  };
  constexpr float kSmall[] = {7.853861353153693e-5f,  -8.010193625184903e-4f, 5.188327685732524e-3f,
                              -2.685381193529856e-2f, 1.128358514861418e-1f,  -3.761262582423300e-1f,
                              1.128379165726710e+0f};
  constexpr float kMiddle[] = {2.326819970068386e-2f,  -1.387039388740657e-1f, 3.687424674597105e-1f,
                               -5.824733027278666e-1f, 6.210004621745983e-1f,  -4.944515323274145e-1f,
                               3.404879937665872e-1f,  -2.741127028184656e-1f, 5.638259427386472e-1f};
  constexpr float kLarge[] = {-1.047766399936249e+1f, 1.297719955372516e+1f,  -7.495518717768503e+0f,
                              2.921019019210786e+0f,  -1.015265279202700e+0f, 4.218463358204948e-1f,
                              -2.820767439740514e-1f, 5.641895067754075e-1f};
  V one = hn::Set(d, 1.0f), magnitude = hn::Abs(x);
  V square = hn::Mul(x, x);
  V small = hn::Mul(x, polynomial(hn::Min(square, one), kSmall, 7));
  V bounded = hn::Min(hn::Max(magnitude, one), hn::Set(d, 10.0f));
  V inverse = hn::Div(one, bounded), inverseSquare = hn::Mul(inverse, inverse);
  V ratio = hn::IfThenElse(hn::Lt(bounded, hn::Set(d, 2.0f)), polynomial(inverseSquare, kMiddle, 9),
                           polynomial(inverseSquare, kLarge, 8));
  V tail = hn::Mul(hn::Mul(vectorExp(d, hn::Neg(hn::Mul(bounded, bounded))), inverse), ratio);
  V large = hn::CopySign(hn::Sub(one, tail), x);
  return hn::IfThenElse(hn::IsNaN(x), x, hn::IfThenElse(hn::Lt(magnitude, one), small, large));
}

} // namespace weft::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif // per-target guard
