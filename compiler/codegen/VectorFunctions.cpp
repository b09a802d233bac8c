//===- VectorFunctions.cpp - What generated kernels call -------------------===//
//
// Compiled to LLVM bitcode once for each target, held by the compiler, and inlined into the kernels that it
// generates: a generated kernel and the interpreter of blocks compute a function by the same source, and so
// the same bits. Functions of float32 are of whole vectors, all others of single lanes.
//
//===----------------------------------------------------------------------===//
#include "kernels/cpu/ElementwiseFunctions-inl.h"

namespace hn = hwy::HWY_NAMESPACE;
namespace functions = weft::cpu::HWY_NAMESPACE;

using Tag = hn::ScalableTag<float>;
using Lanes = decltype(hn::Vec<Tag>::raw);

template <class Function> static HWY_INLINE Lanes ofVector(Lanes x) {
  return Function::apply(Tag(), hn::Vec<Tag>{x}).raw;
}

#define WEFT_EXPORT extern "C" __attribute__((always_inline))
#define WEFT_FUNCTION(name, Function)                                                                        \
  WEFT_EXPORT Lanes weft_##name##_f32(Lanes x) { return ofVector<functions::Function>(x); }                  \
  WEFT_EXPORT double weft_##name##_f64(double x) { return functions::Function::scalar(x); }
WEFT_FUNCTION(exp, Exp)
WEFT_FUNCTION(log, Log)
WEFT_FUNCTION(tanh, Tanh)
WEFT_FUNCTION(sigmoid, Sigmoid)
WEFT_FUNCTION(sin, Sin)
WEFT_FUNCTION(cos, Cos)
WEFT_FUNCTION(erf, Erf)
#undef WEFT_FUNCTION

WEFT_EXPORT float weft_power_f32(float a, float b) { return functions::Power::apply(a, b); }
WEFT_EXPORT double weft_power_f64(double a, double b) { return functions::Power::apply(a, b); }
WEFT_EXPORT float weft_remainder_f32(float a, float b) { return functions::Remainder::apply(a, b); }
WEFT_EXPORT double weft_remainder_f64(double a, double b) { return functions::Remainder::apply(a, b); }
WEFT_EXPORT float weft_round_to_odd_f64(double x) { return functions::roundToOdd(x); }
WEFT_EXPORT float weft_round_to_odd_i64(int64_t x) { return functions::roundToOdd(functions::roundToOdd(x)); }
