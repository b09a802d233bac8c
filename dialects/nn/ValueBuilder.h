//===- ValueBuilder.h - Writing nn programs as expressions ------------------===//
//
// One method per thing that VJPs, decompositions and models say again and again. Each creates one op (or a
// constant) at the builder's insertion point and returns its value. Result types follow from the operands
// unless given.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_DIALECTS_NN_VALUEBUILDER_H
#define WEFT_DIALECTS_NN_VALUEBUILDER_H

#include "dialects/nn/NnOps.h"

namespace weft::nn {

class ValueBuilder {
public:
  using Value = mlir::Value;
  using Type = mlir::Type;
  template <typename T> using List = llvm::ArrayRef<T>;

  ValueBuilder(mlir::OpBuilder &builder, mlir::Location location) : builder(builder), location(location) {}

  mlir::OpBuilder &builder;
  mlir::Location location;

  template <typename OpTy, typename... Arguments> OpTy create(Arguments &&...arguments) {
    return OpTy::create(builder, location, std::forward<Arguments>(arguments)...);
  }

  mlir::RankedTensorType type(List<int64_t> shape, Type element) {
    return mlir::RankedTensorType::get(shape, element);
  }
  /// The value's shape with another element type.
  mlir::RankedTensorType withElement(Value like, Type element) {
    return mlir::RankedTensorType::get(tensorType(like).getShape(), element);
  }

  // Constants. `splat` fills the shape and type of `like`: a number that the type does not hold is a float64
  // constant and a cast, so that exact evaluation has the number itself.
  Value constant(mlir::RankedTensorType type, double value);
  Value scalar(Type element, double value) { return constant(type({}, element), value); }
  Value splat(Value like, double value);

  // Element-wise; operands have one type.
  template <typename OpTy> Value unary(Value x) { return create<OpTy>(x.getType(), x); }
  template <typename OpTy> Value binary(Value x, Value y) { return create<OpTy>(x.getType(), x, y); }
  Value add(Value x, Value y) { return binary<AddOp>(x, y); }
  Value sub(Value x, Value y) { return binary<SubtractOp>(x, y); }
  Value mul(Value x, Value y) { return binary<MultiplyOp>(x, y); }
  Value div(Value x, Value y) { return binary<DivideOp>(x, y); }
  Value maximum(Value x, Value y) { return binary<MaximumOp>(x, y); }
  Value minimum(Value x, Value y) { return binary<MinimumOp>(x, y); }
  Value power(Value x, Value y) { return binary<PowerOp>(x, y); }
  Value logicalAnd(Value x, Value y) { return binary<AndOp>(x, y); }
  Value logicalOr(Value x, Value y) { return binary<OrOp>(x, y); }
  Value logicalNot(Value x) { return unary<NotOp>(x); }
  Value neg(Value x) { return unary<NegateOp>(x); }
  Value exp(Value x) { return unary<ExpOp>(x); }
  Value log(Value x) { return unary<LogOp>(x); }
  Value sqrt(Value x) { return unary<SqrtOp>(x); }
  Value rsqrt(Value x) { return unary<RsqrtOp>(x); }
  Value tanh(Value x) { return unary<TanhOp>(x); }
  Value sigmoid(Value x) { return unary<SigmoidOp>(x); }
  Value square(Value x) { return mul(x, x); }
  Value scale(Value x, double factor) { return factor == 1.0 ? x : mul(x, splat(x, factor)); }
  Value addScalar(Value x, double term) { return term == 0.0 ? x : add(x, splat(x, term)); }
  Value compare(Comparison comparison, Value x, Value y);
  Value select(Value condition, Value onTrue, Value onFalse);
  Value isFinite(Value x);
  /// The value itself when it has the element type already.
  Value cast(Value x, Type element);
  Value castTo(Value x, Value like) { return cast(x, tensorType(like).getElementType()); }

  // Shape.
  Value reshape(Value x, List<int64_t> shape);
  Value transpose(Value x, List<int64_t> permutation);
  Value broadcast(Value x, List<int64_t> shape, List<int64_t> dimensions);
  /// Repeats a scalar over the shape of `like`.
  Value broadcastScalar(Value x, Value like) { return broadcast(x, tensorType(like).getShape(), {}); }
  /// Repeats along the last dimension: [...] -> [..., size].
  Value broadcastLast(Value x, int64_t size);
  /// Repeats a vector over all leading dimensions: [h] -> shape [..., h].
  Value broadcastRow(Value x, List<int64_t> shape);
  Value slice(Value x, List<int64_t> offsets, List<int64_t> sizes);
  Value concatenate(List<Value> xs, int64_t dimension);

  // Reductions and contraction. The element type is the operand's unless given.
  Value reduce(Reduction kind, Value x, List<int64_t> dimensions, Type element = {});
  Value sum(Value x, List<int64_t> dimensions, Type element = {}) {
    return reduce(Reduction::sum, x, dimensions, element);
  }
  Value sumAll(Value x, Type element = {});
  /// Folds the last dimension: [..., n] -> [...].
  Value sumLast(Value x, Type element = {});
  Value maxLast(Value x);
  /// The mean over the last dimension, in the operand's type.
  Value meanLast(Value x);
  /// Sums over every dimension but the last: [..., h] -> [h].
  Value sumRows(Value x, Type element = {});
  Value einsum(llvm::StringRef equation, Value x, Value y, Type element);

  Value iota(List<int64_t> shape, Type element, int64_t dimension);
  Value read(llvm::StringRef symbol, mlir::RankedTensorType type);
};

} // namespace weft::nn

#endif // WEFT_DIALECTS_NN_VALUEBUILDER_H
