#include "kernels/reference/Casts.h"

#include "kernels/reference/Checks.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace weft::reference {
namespace {

/// The bounds are compared as doubles: the largest i64 is not one, 2^63 is.
template <typename Integer> int64_t truncateSaturating(double value) {
  if (std::isnan(value))
    return 0;
  if (value >= std::ldexp(1.0, std::numeric_limits<Integer>::digits))
    return std::numeric_limits<Integer>::max();
  if (value <= static_cast<double>(std::numeric_limits<Integer>::min()))
    return std::numeric_limits<Integer>::min();
  return static_cast<int64_t>(value);
}

int64_t realToInteger(double value, DType to) {
  switch (to) {
  case DType::I1:
    return value != 0;
  case DType::I32:
    return truncateSaturating<int32_t>(value);
  default:
    return truncateSaturating<int64_t>(value);
  }
}

} // namespace

absl::StatusOr<Tensor> cast(const Tensor &x, DType to) {
  if (absl::Status status = checkTensor("cast", x); !status.ok())
    return status;
  Tensor result{to, x.shape, {}, {}};
  if (isFloat(to)) {
    if (isFloat(x.dtype))
      result.reals = x.reals;
    else
      result.reals.assign(x.integers.begin(), x.integers.end());
    return result;
  }
  result.integers.resize(std::max(x.reals.size(), x.integers.size()));
  for (size_t i = 0; i < result.integers.size(); ++i)
    if (isFloat(x.dtype))
      result.integers[i] = realToInteger(x.reals[i], to);
    else
      result.integers[i] = to == DType::I1 ? x.integers[i] != 0 : wrapInteger(to, x.integers[i]);
  return result;
}

absl::StatusOr<Tensor> bitcast(const Tensor &x, DType to) {
  if (absl::Status status = checkTensor("bitcast", x); !status.ok())
    return status;
  Tensor result{to, x.shape, {}, {}};
  if (x.dtype == DType::F32 && to == DType::I32) {
    for (double value : x.reals)
      result.integers.push_back(std::bit_cast<int32_t>(static_cast<float>(value)));
    return result;
  }
  if (x.dtype == DType::I32 && to == DType::F32) {
    for (int64_t value : x.integers)
      result.reals.push_back(std::bit_cast<float>(static_cast<int32_t>(value)));
    return result;
  }
  return refuse("bitcast", "is between i32 and f32, not from ", std::string(name(x.dtype)), " to ",
                std::string(name(to)));
}

} // namespace weft::reference
