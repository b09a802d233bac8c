//===- ErrorBound.h - How far a kernel may be from the exact value ----------===//
//
// A bound of the rounding error of a function of primitives that is computed in its declared types, by first
// principles (Higham, "Accuracy and Stability of Numerical Algorithms", chapters 2 and 3): every value is
// carried with a bound of its error, element by element.
//
//   u(T)  unit roundoff: 2^-8 bf16, 2^-11 f16, 2^-24 f32, 2^-53 f64
//   A     accumulation type: f64 for f64, f32 otherwise
//   x + y, x * y, ...: the operands' errors, propagated exactly, + u(T) |result|
//   exp, tanh, ...:    the result over the operand's interval, + (kFunctionError u(A) + u(T)) |result|
//   sums of n terms:   the terms' errors + (n + 1) u(A) sum |term| + u(T) |result|
//   comparisons:       certain unless the intervals meet; select over an uncertain one spans both values
//
// A result that is not zero is also granted the type's smallest subnormal; functions, and sums n times, the
// smallest normal of A (some flush). Results of f64 are granted twice their bound, since the reference rounds
// to float64 too. Where a value leaves the range of its type, nothing is promised: infinity.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_TRIALS_ERRORBOUND_H
#define WEFT_TOOLS_WEFT_TRIALS_ERRORBOUND_H

#include "tools/weft-trials/CaseBuilder.h"

namespace weft::trials {

/// A value of the exact program, and a bound of the error of each element (integers: 1 where uncertain).
struct Bounded {
  Tensor value;
  std::vector<double> error;
};

/// Runs a function whose composites are decomposed, on operands without error. Fails as the interpreter does,
/// and at an op whose rounding it does not know.
mlir::FailureOr<std::vector<Bounded>> boundErrors(mlir::func::FuncOp function,
                                                  const std::vector<Tensor> &operands);

/// The largest finite value of a float type.
double largestFinite(DType type);

/// The formula above in one line, for the table's head.
extern const char kErrorFormula[];

} // namespace weft::trials

#endif // WEFT_TOOLS_WEFT_TRIALS_ERRORBOUND_H
