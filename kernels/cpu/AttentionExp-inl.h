//===- AttentionExp-inl.h - exp that keeps NaN, for softmax rows ----------===//
//
// The arguments of a softmax are at most about 0, so float32 needs no care of overflow, and results below the
// least normal number are 0: a weight that small changes no sum that holds a 1. Cody-Waite reduction; the
// Taylor polynomial of degree 7, its last term replaced by the Chebyshev approximation of lower degree (error
// 2e-8 on |r| <= ln(2) / 2, within 1 ulp of the result in all); 2^n from the bits of the sum that rounds. NaN
// gives NaN: it must not hide from whoever watches the loss. float64 is Highway's Exp. Included once per
// instruction set (the toggled guard is Highway's).
//
//===----------------------------------------------------------------------===//
#if defined(WEFT_KERNELS_CPU_ATTENTIONEXP_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_KERNELS_CPU_ATTENTIONEXP_INL_H
#undef WEFT_KERNELS_CPU_ATTENTIONEXP_INL_H
#else
#define WEFT_KERNELS_CPU_ATTENTIONEXP_INL_H
#endif

#include "hwy/highway.h"

#include "hwy/contrib/math/math-inl.h"

#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace weft::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// exp(x) for x at most about 0 (as x - maximum is): 0 for -infinity, NaN for NaN.
template <typename D, typename V> HWY_INLINE V expOfNonPositive(D d, V x) {
  if constexpr (std::is_same_v<hn::TFromD<D>, double>) {
    return hn::IfThenElse(hn::Eq(x, x), hn::Exp(d, x), x);
  } else {
    const hn::RebindToUnsigned<D> bits;
    // Added to n, this leaves n + 127, the exponent of 2^n, in the low bits of the sum.
    const V shift = hn::Set(d, 0x1.8p23f + 127.0f);
    const V shifted = hn::MulAdd(x, hn::Set(d, 1.44269504f), shift), n = hn::Sub(shifted, shift);
    V r = hn::NegMulAdd(n, hn::Set(d, 0x1.62e4p-1f), x); // 15 bits of ln 2: n times them is exact
    r = hn::NegMulAdd(n, hn::Set(d, 0x1.7f7d1cp-20f), r);
    V sum = hn::MulAdd(hn::Set(d, 1.0f / 720), r, hn::Set(d, 0.00837503943f));
    sum = hn::MulAdd(sum, r, hn::Set(d, 1.0f / 24));
    sum = hn::MulAdd(sum, r, hn::Set(d, 0.16666416195f));
    sum = hn::MulAdd(sum, r, hn::Set(d, 0.5f));
    sum = hn::MulAdd(sum, r, hn::Set(d, 1.0f));
    sum = hn::MulAdd(sum, r, hn::Set(d, 1.0f));
    const V power = hn::BitCast(d, hn::ShiftLeft<23>(hn::BitCast(bits, shifted)));
    // The comparison is false for NaN, and the product NaN.
    return hn::IfThenZeroElse(hn::Lt(x, hn::Set(d, -87.3365447f)), hn::Mul(sum, power));
  }
}

} // namespace HWY_NAMESPACE
} // namespace weft::cpu
HWY_AFTER_NAMESPACE();

#endif // WEFT_KERNELS_CPU_ATTENTIONEXP_INL_H
