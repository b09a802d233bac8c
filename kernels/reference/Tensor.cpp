#include "kernels/reference/Tensor.h"

#include "kernels/reference/Checks.h"

#include "absl/strings/str_cat.h"

namespace weft::reference {

absl::StatusOr<Tensor> makeZeros(const TensorType &type) { return zerosFor("tensor", type); }

absl::StatusOr<Tensor> makeReals(DType dtype, std::vector<int64_t> shape, std::vector<double> values) {
  if (!isFloat(dtype))
    return absl::InvalidArgumentError(
        absl::StrCat("tensor: ", std::string(name(dtype)), " is not a float type"));
  Tensor tensor{dtype, std::move(shape), std::move(values), {}};
  if (absl::Status status = checkTensor("tensor", tensor); !status.ok())
    return status;
  return tensor;
}

absl::StatusOr<Tensor> makeIntegers(DType dtype, std::vector<int64_t> shape, std::vector<int64_t> values) {
  if (isFloat(dtype))
    return absl::InvalidArgumentError(
        absl::StrCat("tensor: ", std::string(name(dtype)), " is not an integer type"));
  Tensor tensor{dtype, std::move(shape), {}, std::move(values)};
  if (absl::Status status = checkTensor("tensor", tensor); !status.ok())
    return status;
  for (int64_t value : tensor.integers) {
    bool fits = dtype == DType::I1 ? value == 0 || value == 1 : wrapInteger(dtype, value) == value;
    if (!fits)
      return absl::InvalidArgumentError(
          absl::StrCat("tensor: ", value, " does not fit ", std::string(name(dtype))));
  }
  return tensor;
}

std::vector<int64_t> stridesOf(const std::vector<int64_t> &shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;)
    strides[i - 1] = strides[i] * shape[i];
  return strides;
}

int64_t wrapInteger(DType dtype, int64_t value) {
  switch (dtype) {
  case DType::I1:
    return value & 1;
  case DType::I32:
    return static_cast<int32_t>(static_cast<uint64_t>(value) & 0xFFFFFFFFu);
  default:
    return value;
  }
}

} // namespace weft::reference
