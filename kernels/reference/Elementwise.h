//===- Elementwise.h - Unary, binary, compare, select ---------------------===//
//
// Element by element, operands of one shape. Float math is IEEE double. Integer arithmetic wraps at the
// type's width; division truncates toward zero, and dividing by 0 gives 0 (quotient and remainder). i1 has
// only Not, And, Or, comparisons and select.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_KERNELS_REFERENCE_ELEMENTWISE_H
#define WEFT_KERNELS_REFERENCE_ELEMENTWISE_H

#include "kernels/reference/Tensor.h"

namespace weft::reference {

/// Negate, Abs, Sign: float and integer (sign of NaN is NaN, of -0.0 is -0.0). IsFinite: float to i1. Not:
/// bitwise, i1 and integers. The rest: float.
enum class Unary {
  Negate,
  Abs,
  Exp,
  Log,
  Sqrt,
  Rsqrt,
  Tanh,
  Sigmoid,
  Sin,
  Cos,
  Erf,
  Floor,
  Sign,
  IsFinite,
  Not
};

/// Maximum, Minimum: NaN if either is NaN; -0.0 is below 0.0. Power: float. And, Or: bitwise, i1 and
/// integers. Remainder: the sign of the dividend (C's fmod and %).
enum class Binary { Add, Subtract, Multiply, Divide, Maximum, Minimum, Power, And, Or, Remainder };

/// Of NaN, only Ne is true.
enum class Comparison { Eq, Ne, Lt, Le, Gt, Ge };

/// The IR's spelling: negate, is_finite, maximum, ge, ...
std::string_view name(Unary op);
std::string_view name(Binary op);
std::string_view name(Comparison op);
/// The op of a spelling, or nothing.
std::optional<Unary> unaryFromName(std::string_view name);
std::optional<Binary> binaryFromName(std::string_view name);
std::optional<Comparison> comparisonFromName(std::string_view name);

absl::StatusOr<Tensor> unary(Unary op, const Tensor &x);
/// Both operands of one type, which is the result's.
absl::StatusOr<Tensor> binary(Binary op, const Tensor &a, const Tensor &b);
/// log(exp(a) + exp(b)) of floats, without overflow: minus infinity is neutral. Not an op of the IR: how
/// pending log-sum-exps add up.
absl::StatusOr<Tensor> addLogarithms(const Tensor &a, const Tensor &b);
/// Both operands of one type; the result is i1.
absl::StatusOr<Tensor> compare(Comparison op, const Tensor &a, const Tensor &b);
/// Where the i1 condition is 1, `then`, else `otherwise`; all of one shape.
absl::StatusOr<Tensor> select(const Tensor &condition, const Tensor &then, const Tensor &otherwise);

} // namespace weft::reference

#endif // WEFT_KERNELS_REFERENCE_ELEMENTWISE_H
