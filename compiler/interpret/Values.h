//===- Values.h - From IR types and constants to reference tensors ---------===//
//
// What the interpreter needs to know about MLIR's types: an element type's DType, a ranked tensor's
// TensorType, and the values of a constant.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_INTERPRET_VALUES_H
#define WEFT_COMPILER_INTERPRET_VALUES_H

#include "kernels/reference/Tensor.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

namespace weft::interpret {

using reference::Tensor;
/// What a declared type does to a value: nothing (all floats are float64, a cast between float types is the
/// identity), or round it, once per op.
enum class Types { Exact, Declared };

/// The element type of kernels for i1, i32, i64, bf16, f16, f32, f64; nothing for others.
std::optional<DType> dtypeOf(mlir::Type element);

/// The type of a ranked tensor of static shape and such an element type; nothing for others.
std::optional<TensorType> tensorTypeOf(mlir::Type type);

/// Likewise; of a part in the local view, the type of the whole.
std::optional<TensorType> wholeTypeOf(mlir::Type type);

/// Whether type and values are the same, to the bit.
bool sameBits(const Tensor &left, const Tensor &right);

/// The values of a dense constant, floats exactly.
absl::StatusOr<Tensor> constantValue(mlir::ElementsAttr constant);

} // namespace weft::interpret

#endif // WEFT_COMPILER_INTERPRET_VALUES_H
