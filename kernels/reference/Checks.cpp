#include "kernels/reference/Checks.h"

#include <algorithm>

namespace weft::reference {

absl::StatusOr<int64_t> countElements(std::string_view op, const TensorType &type) {
  constexpr int64_t limit = int64_t{1} << 31;
  int64_t product = 1; // zeros count as 1: no dimension of an empty tensor is unbounded either
  for (int64_t size : type.shape)
    if (size < 0)
      return refuse(op, type.str(), " has a negative dimension");
  for (int64_t size : type.shape) {
    if (size > limit / product)
      return refuse(op, type.str(), " has more than 2^31 elements: too large for the reference");
    product *= std::max<int64_t>(size, 1);
  }
  return std::find(type.shape.begin(), type.shape.end(), 0) == type.shape.end() ? product : 0;
}

absl::StatusOr<Tensor> zerosFor(std::string_view op, const TensorType &type) {
  absl::StatusOr<int64_t> count = countElements(op, type);
  if (!count.ok())
    return count.status();
  Tensor tensor{type.dtype, type.shape, {}, {}};
  if (isFloat(type.dtype))
    tensor.reals.resize(*count);
  else
    tensor.integers.resize(*count);
  return tensor;
}

absl::Status checkTensor(std::string_view op, const Tensor &tensor) {
  absl::StatusOr<int64_t> count = countElements(op, tensor.type());
  if (!count.ok())
    return count.status();
  int64_t wanted = isFloat(tensor.dtype) ? *count : 0;
  if (static_cast<int64_t>(tensor.reals.size()) == wanted &&
      static_cast<int64_t>(tensor.integers.size()) == *count - wanted)
    return absl::OkStatus();
  return refuse(op, tensor.type().str(), " needs ", *count, isFloat(tensor.dtype) ? " reals" : " integers",
                ", it holds ", tensor.reals.size(), " reals and ", tensor.integers.size(), " integers");
}

absl::Status checkSameType(std::string_view op, const Tensor &a, const Tensor &b) {
  if (absl::Status status = checkTensor(op, a); !status.ok())
    return status;
  if (absl::Status status = checkTensor(op, b); !status.ok())
    return status;
  if (a.type() != b.type())
    return refuse(op, "operands must have one type, they are ", a.type().str(), " and ", b.type().str());
  return absl::OkStatus();
}

absl::Status checkDimension(std::string_view op, int64_t dimension, const Tensor &tensor) {
  if (dimension < 0 || dimension >= tensor.rank())
    return refuse(op, "dimension ", dimension, " is not one of ", tensor.type().str());
  return absl::OkStatus();
}

absl::Status checkOnePerDimension(std::string_view op, std::string_view what, size_t count,
                                  const Tensor &tensor) {
  if (count != tensor.shape.size())
    return refuse(op, std::string(what), " must have ", tensor.shape.size(), " entries for ",
                  tensor.type().str(), ", it has ", count);
  return absl::OkStatus();
}

} // namespace weft::reference
