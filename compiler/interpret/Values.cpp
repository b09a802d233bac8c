#include "compiler/interpret/Values.h"

#include "dialects/dist/Placement.h"

#include <bit>

using namespace mlir;

namespace weft::interpret {

std::optional<DType> dtypeOf(Type element) {
  if (element.isInteger(1))
    return DType::I1;
  if (element.isInteger(32))
    return DType::I32;
  if (element.isInteger(64))
    return DType::I64;
  if (element.isBF16())
    return DType::BF16;
  if (element.isF16())
    return DType::F16;
  if (element.isF32())
    return DType::F32;
  if (element.isF64())
    return DType::F64;
  return std::nullopt;
}

std::optional<TensorType> tensorTypeOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape())
    return std::nullopt;
  std::optional<DType> dtype = dtypeOf(tensor.getElementType());
  if (!dtype)
    return std::nullopt;
  return TensorType{*dtype, {tensor.getShape().begin(), tensor.getShape().end()}};
}

std::optional<TensorType> wholeTypeOf(Type type) {
  std::optional<TensorType> tensor = tensorTypeOf(type);
  if (tensor) {
    ArrayRef<int64_t> shape = dist::wholeShape(cast<RankedTensorType>(type));
    tensor->shape.assign(shape.begin(), shape.end());
  }
  return tensor;
}

bool sameBits(const Tensor &left, const Tensor &right) {
  return left.type() == right.type() && left.integers == right.integers &&
         llvm::equal(left.reals, right.reals, [](double one, double other) {
           return std::bit_cast<uint64_t>(one) == std::bit_cast<uint64_t>(other);
         });
}

absl::StatusOr<Tensor> constantValue(ElementsAttr constant) {
  auto dense = dyn_cast<DenseElementsAttr>(constant);
  std::optional<TensorType> type = tensorTypeOf(constant.getType());
  if (!dense || !type)
    return absl::InvalidArgumentError("the value must be a dense tensor");
  absl::StatusOr<Tensor> tensor = reference::makeZeros(*type);
  if (!tensor.ok())
    return tensor;
  if (isFloat(type->dtype)) {
    for (auto [to, value] : llvm::zip_equal(tensor->reals, dense.getValues<APFloat>())) {
      APFloat wide = value;
      bool losesBits = false;
      wide.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesBits);
      to = wide.convertToDouble();
    }
    return tensor;
  }
  for (auto [to, value] : llvm::zip_equal(tensor->integers, dense.getValues<APInt>()))
    to = type->dtype == DType::I1 ? static_cast<int64_t>(value.getZExtValue()) : value.getSExtValue();
  return tensor;
}

} // namespace weft::interpret
