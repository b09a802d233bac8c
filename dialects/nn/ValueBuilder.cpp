#include "dialects/nn/ValueBuilder.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace weft::nn {
namespace {
SmallVector<int64_t> without(ArrayRef<int64_t> shape, ArrayRef<int64_t> dimensions) {
  SmallVector<int64_t> rest;
  for (auto [index, size] : llvm::enumerate(shape))
    if (!llvm::is_contained(dimensions, static_cast<int64_t>(index)))
      rest.push_back(size);
  return rest;
}

/// Whether rounding to the type leaves the number as it is.
bool holds(Type element, double value) {
  auto floatType = dyn_cast<FloatType>(element);
  return !floatType || FloatAttr::get(floatType, value).getValueAsDouble() == value;
}
} // namespace

Value ValueBuilder::constant(RankedTensorType type, double value) {
  Type element = type.getElementType();
  TypedAttr attribute;
  if (auto floatType = dyn_cast<FloatType>(element))
    attribute = FloatAttr::get(floatType, value);
  else
    attribute = IntegerAttr::get(element, static_cast<int64_t>(value));
  return create<ConstantOp>(cast<ElementsAttr>(Attribute(DenseElementsAttr::get(type, attribute))));
}

Value ValueBuilder::splat(Value like, double value) {
  RankedTensorType type = tensorType(like);
  if (holds(type.getElementType(), value))
    return constant(type, value);
  return create<CastOp>(type, constant(cast<RankedTensorType>(type.clone(builder.getF64Type())), value));
}

Value ValueBuilder::compare(Comparison comparison, Value x, Value y) {
  return create<CompareOp>(withElement(x, builder.getI1Type()), comparison, x, y);
}
Value ValueBuilder::select(Value condition, Value onTrue, Value onFalse) {
  return create<SelectOp>(onTrue.getType(), condition, onTrue, onFalse);
}
Value ValueBuilder::isFinite(Value x) { return create<IsFiniteOp>(withElement(x, builder.getI1Type()), x); }

Value ValueBuilder::cast(Value x, Type element) {
  if (tensorType(x).getElementType() == element)
    return x;
  return create<CastOp>(withElement(x, element), x);
}

Value ValueBuilder::reshape(Value x, List<int64_t> shape) {
  if (tensorType(x).getShape() == shape)
    return x;
  return create<ReshapeOp>(type(shape, tensorType(x).getElementType()), x);
}

Value ValueBuilder::transpose(Value x, List<int64_t> permutation) {
  SmallVector<int64_t> shape;
  for (int64_t dimension : permutation)
    shape.push_back(tensorType(x).getDimSize(dimension));
  return create<TransposeOp>(type(shape, tensorType(x).getElementType()), x, permutation);
}

Value ValueBuilder::broadcast(Value x, List<int64_t> shape, List<int64_t> dimensions) {
  if (tensorType(x).getShape() == shape)
    return x;
  return create<BroadcastOp>(type(shape, tensorType(x).getElementType()), x, dimensions);
}

Value ValueBuilder::broadcastLast(Value x, int64_t size) {
  SmallVector<int64_t> shape(tensorType(x).getShape());
  auto dimensions = llvm::to_vector(llvm::seq<int64_t>(0, shape.size()));
  shape.push_back(size);
  return broadcast(x, shape, dimensions);
}

Value ValueBuilder::broadcastRow(Value x, List<int64_t> shape) {
  return broadcast(x, shape, {static_cast<int64_t>(shape.size()) - 1});
}

Value ValueBuilder::slice(Value x, List<int64_t> offsets, List<int64_t> sizes) {
  return create<SliceOp>(type(sizes, tensorType(x).getElementType()), x, ValueRange(), offsets);
}

Value ValueBuilder::concatenate(List<Value> xs, int64_t dimension) {
  SmallVector<int64_t> shape(tensorType(xs.front()).getShape());
  shape[dimension] = 0;
  for (Value x : xs)
    shape[dimension] += tensorType(x).getDimSize(dimension);
  return create<ConcatenateOp>(type(shape, tensorType(xs.front()).getElementType()), xs, dimension);
}

Value ValueBuilder::reduce(Reduction kind, Value x, List<int64_t> dimensions, Type element) {
  if (!element)
    element = tensorType(x).getElementType();
  return create<ReduceOp>(type(without(tensorType(x).getShape(), dimensions), element), kind, x, dimensions);
}

Value ValueBuilder::sumAll(Value x, Type element) {
  return sum(x, llvm::to_vector(llvm::seq<int64_t>(0, tensorType(x).getRank())), element);
}
Value ValueBuilder::sumLast(Value x, Type element) { return sum(x, {tensorType(x).getRank() - 1}, element); }
Value ValueBuilder::maxLast(Value x) { return reduce(Reduction::max, x, {tensorType(x).getRank() - 1}); }
Value ValueBuilder::meanLast(Value x) {
  return scale(sumLast(x), 1.0 / static_cast<double>(tensorType(x).getShape().back()));
}
Value ValueBuilder::sumRows(Value x, Type element) {
  return sum(x, llvm::to_vector(llvm::seq<int64_t>(0, tensorType(x).getRank() - 1)), element);
}

Value ValueBuilder::einsum(llvm::StringRef equation, Value x, Value y, Type element) {
  auto [terms, resultTerm] = equation.split("->");
  auto [xTerm, yTerm] = terms.split(',');
  SmallVector<int64_t> shape;
  for (char letter : resultTerm) {
    size_t inX = xTerm.find(letter);
    shape.push_back(inX != llvm::StringRef::npos ? tensorType(x).getDimSize(inX)
                                                 : tensorType(y).getDimSize(yTerm.find(letter)));
  }
  return create<EinsumOp>(type(shape, element), builder.getStringAttr(equation), x, y);
}

Value ValueBuilder::iota(List<int64_t> shape, Type element, int64_t dimension) {
  return create<IotaOp>(type(shape, element), dimension);
}
Value ValueBuilder::read(llvm::StringRef symbol, RankedTensorType type) {
  return create<ReadOp>(type, FlatSymbolRefAttr::get(builder.getContext(), symbol));
}

} // namespace weft::nn
