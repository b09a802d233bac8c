//===- AttentionExp-inl.h - exp that keeps NaN, for softmax rows ----------===//
//
// Highway's Exp answers 0 for NaN, which would hide a non-finite score from whoever watches the loss.
// Included once per instruction set (the toggled guard is Highway's).
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

HWY_BEFORE_NAMESPACE();
namespace weft::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// exp(x) for x at most about 0 (as x - maximum is): 0 for -infinity and below the smallest denormal, NaN for
/// NaN.
template <typename D, typename V> HWY_INLINE V expOfNonPositive(D d, V x) {
  return hn::IfThenElse(hn::Eq(x, x), hn::Exp(d, x), x);
}

} // namespace HWY_NAMESPACE
} // namespace weft::cpu
HWY_AFTER_NAMESPACE();

#endif // WEFT_KERNELS_CPU_ATTENTIONEXP_INL_H
