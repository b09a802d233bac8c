#include "kernels/reference/Reduce.h"

#include "kernels/reference/Checks.h"
#include "kernels/reference/Names.h"
#include "kernels/reference/Rows.h"

#include "absl/strings/str_join.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace weft::reference {
namespace {

constexpr std::array<std::string_view, 6> kReductionNames = {"sum", "max", "min", "product", "and", "or"};

double startOfReals(Reduction kind) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  return kind == Reduction::Max       ? -infinity
         : kind == Reduction::Min     ? infinity
         : kind == Reduction::Product ? 1.0
                                      : 0.0;
}

int64_t startOfIntegers(Reduction kind, DType dtype) {
  bool narrow = dtype == DType::I32;
  switch (kind) {
  case Reduction::Max:
    return narrow ? std::numeric_limits<int32_t>::min() : std::numeric_limits<int64_t>::min();
  case Reduction::Min:
    return narrow ? std::numeric_limits<int32_t>::max() : std::numeric_limits<int64_t>::max();
  case Reduction::Product:
    return 1;
  case Reduction::And:
    return wrapInteger(dtype, -1);
  case Reduction::Sum:
  case Reduction::Or:
    return 0;
  }
  return 0;
}

double combine(Reduction kind, double total, double value, DType) {
  switch (kind) {
  case Reduction::Sum:
    return total + value;
  case Reduction::Product:
    return total * value;
  case Reduction::Max: // a NaN stays, whichever side it is on
    return std::isnan(total) || total > value ? total : value;
  case Reduction::Min:
    return std::isnan(total) || total < value ? total : value;
  case Reduction::And:
  case Reduction::Or:
    break;
  }
  return total;
}

int64_t combine(Reduction kind, int64_t total, int64_t value, DType dtype) {
  uint64_t a = static_cast<uint64_t>(total), b = static_cast<uint64_t>(value);
  switch (kind) {
  case Reduction::Sum:
    return wrapInteger(dtype, static_cast<int64_t>(a + b));
  case Reduction::Product:
    return wrapInteger(dtype, static_cast<int64_t>(a * b));
  case Reduction::Max:
    return std::max(total, value);
  case Reduction::Min:
    return std::min(total, value);
  case Reduction::And:
    return total & value;
  case Reduction::Or:
    return total | value;
  }
  return total;
}

absl::Status checkType(std::string_view op, bool bitwise, const Tensor &x) {
  if (bitwise && isFloat(x.dtype))
    return refuse(op, "the operand must be i1, i32 or i64, it is ", x.type().str());
  if (!bitwise && x.dtype == DType::I1)
    return refuse(op, "the operand must be i32, i64 or of a float type, it is ", x.type().str());
  return absl::OkStatus();
}

} // namespace

std::string_view name(Reduction kind) { return kReductionNames[static_cast<size_t>(kind)]; }

std::optional<Reduction> reductionFromName(std::string_view name) {
  return findName<Reduction>(kReductionNames, name);
}

absl::StatusOr<Tensor> reduce(Reduction kind, const Tensor &x, Dimensions dimensions) {
  std::string op = absl::StrCat("reduce ", std::string(name(kind)));
  if (absl::Status status = checkTensor(op, x); !status.ok())
    return status;
  if (absl::Status status = checkType(op, kind == Reduction::And || kind == Reduction::Or, x); !status.ok())
    return status;
  std::vector<bool> reduced(x.shape.size(), false);
  for (int64_t dimension : dimensions) {
    if (absl::Status status = checkDimension(op, dimension, x); !status.ok())
      return status;
    if (reduced[dimension])
      return refuse(op, "dimension ", dimension, " is listed twice in [", absl::StrJoin(dimensions, ", "),
                    "]");
    reduced[dimension] = true;
  }
  TensorType type{x.dtype, {}};
  for (size_t i = 0; i < x.shape.size(); ++i)
    if (!reduced[i])
      type.shape.push_back(x.shape[i]);
  // The strides of the result over x's index space: 0 along what is reduced.
  std::vector<int64_t> kept = stridesOf(type.shape), strides(x.shape.size(), 0);
  for (size_t i = 0, next = 0; i < x.shape.size(); ++i)
    if (!reduced[i])
      strides[i] = kept[next++];
  absl::StatusOr<Tensor> result = zerosFor(op, type);
  if (!result.ok())
    return result;
  for (double &value : result->reals)
    value = startOfReals(kind);
  for (int64_t &value : result->integers)
    value = startOfIntegers(kind, x.dtype);
  withValues(
      [&](auto &out, const auto &in) {
        int64_t next = 0;
        forEachRow(x.shape, strides, 0, [&](int64_t start, int64_t count, int64_t stride) {
          for (int64_t i = 0; i < count; ++i, start += stride)
            out[start] = combine(kind, out[start], in[next++], x.dtype);
        });
      },
      *result, x);
  return result;
}

absl::StatusOr<Tensor> cumulativeSum(const Tensor &x, int64_t dimension) {
  constexpr std::string_view op = "cumulative_sum";
  if (absl::Status status = checkTensor(op, x); !status.ok())
    return status;
  if (absl::Status status = checkType(op, false, x); !status.ok())
    return status;
  if (absl::Status status = checkDimension(op, dimension, x); !status.ok())
    return status;
  Tensor result = x;
  int64_t step = stridesOf(x.shape)[dimension], size = x.shape[dimension];
  withValues(
      [&](auto &out) {
        for (int64_t i = 0; i < static_cast<int64_t>(out.size()); ++i)
          if (i / step % size > 0)
            out[i] = combine(Reduction::Sum, out[i - step], out[i], x.dtype);
      },
      result);
  return result;
}

} // namespace weft::reference
