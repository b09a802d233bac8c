//===- Tensor.h - Values of the reference ---------------------------------===//
//
// The reference computes every primitive in float64, one plain loop each: it is what the other kernels, the
// passes and the decompositions are held against. A tensor is dense and row-major. It remembers its declared
// element type, but float values are kept as doubles: an op never rounds to the declared type by itself
// (Rounding.h does, when asked).
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_KERNELS_REFERENCE_TENSOR_H
#define WEFT_KERNELS_REFERENCE_TENSOR_H

#include "kernels/common/Types.h"

#include "absl/status/statusor.h"

namespace weft::reference {

/// Float types keep `reals`, i1, i32 and i64 keep `integers`; the other vector is empty. Integers are within
/// their type's range (i1: 0 or 1). A default-made tensor holds nothing and is refused by every function.
struct Tensor {
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  std::vector<double> reals;
  std::vector<int64_t> integers;

  TensorType type() const { return {dtype, shape}; }
  int64_t rank() const { return static_cast<int64_t>(shape.size()); }
  int64_t elements() const { return type().elements(); }
  bool operator==(const Tensor &) const = default;
};

/// A tensor of zeros. Fails on a negative dimension and on more than 2^31 elements.
absl::StatusOr<Tensor> makeZeros(const TensorType &type);
/// A tensor of a float type from its values in row-major order. Fails when the count does not fit the shape.
absl::StatusOr<Tensor> makeReals(DType dtype, std::vector<int64_t> shape, std::vector<double> values);
/// A tensor of i1, i32 or i64. Fails when the count does not fit the shape, or a value the type.
absl::StatusOr<Tensor> makeIntegers(DType dtype, std::vector<int64_t> shape, std::vector<int64_t> values);

/// Row-major strides in elements.
std::vector<int64_t> stridesOf(const std::vector<int64_t> &shape);

/// The value that two's complement arithmetic of the type's width gives; i1 keeps the lowest bit.
int64_t wrapInteger(DType dtype, int64_t value);

/// Calls body(valuesOf(result), valuesOf(operands)...) on the vectors that hold the values: the doubles of
/// float tensors, the integers of the rest. All of one kind.
template <typename Body, typename... Operands>
void withValues(Body &&body, Tensor &result, const Operands &...operands) {
  if (isFloat(result.dtype))
    body(result.reals, operands.reals...);
  else
    body(result.integers, operands.integers...);
}

} // namespace weft::reference

#endif // WEFT_KERNELS_REFERENCE_TENSOR_H
