#include "kernels/reference/Shape.h"

#include "kernels/reference/Casts.h"
#include "kernels/reference/Checks.h"
#include "kernels/reference/Rows.h"

#include "absl/strings/str_join.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace weft::reference {
namespace {

std::string listOf(Dimensions values) { return absl::StrCat("[", absl::StrJoin(values, ", "), "]"); }

std::vector<int64_t> toVector(Dimensions values) { return {values.begin(), values.end()}; }

/// A tensor of `shape` whose element at (i0, i1, ...) is x's at offset + sum of i_d * strides[d].
absl::StatusOr<Tensor> readStrided(std::string_view op, const Tensor &x, std::vector<int64_t> shape,
                                   int64_t offset, const std::vector<int64_t> &strides) {
  TensorType type{x.dtype, std::move(shape)};
  absl::StatusOr<Tensor> result = zerosFor(op, type);
  if (!result.ok())
    return result;
  withValues(
      [&](auto &out, const auto &in) {
        int64_t next = 0;
        forEachRow(result->shape, strides, offset, [&](int64_t start, int64_t count, int64_t stride) {
          for (int64_t i = 0; i < count; ++i)
            out[next++] = in[start + i * stride];
        });
      },
      *result, x);
  return result;
}

/// Writes `block` into `target` at `starts`; it fits.
void writeBlock(Tensor &target, Dimensions starts, const Tensor &block) {
  std::vector<int64_t> strides = stridesOf(target.shape);
  int64_t offset = std::inner_product(starts.begin(), starts.end(), strides.begin(), int64_t{0});
  withValues(
      [&](auto &out, const auto &in) {
        int64_t next = 0;
        forEachRow(block.shape, strides, offset, [&](int64_t start, int64_t count, int64_t stride) {
          for (int64_t i = 0; i < count; ++i)
            out[start + i * stride] = in[next++];
        });
      },
      target, block);
}

/// starts + offsets, each moved to where a block of `sizes` fits into `shape`. Sums beyond int64 saturate.
absl::StatusOr<std::vector<int64_t>> clampStarts(std::string_view op, const Tensor &x, Dimensions starts,
                                                 Dimensions offsets, Dimensions sizes) {
  std::vector<int64_t> clamped;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < 0 || sizes[i] > x.shape[i])
      return refuse(op, "a block of sizes ", listOf(sizes), " does not fit into ", x.type().str());
    int64_t last = x.shape[i] - sizes[i];
    int64_t sum = 0;
    if (__builtin_add_overflow(starts[i], offsets[i], &sum))
      sum = starts[i] > 0 ? last : 0;
    clamped.push_back(std::clamp<int64_t>(sum, 0, last));
  }
  return clamped;
}

} // namespace

absl::StatusOr<Tensor> reshape(const Tensor &x, Dimensions shape) {
  if (absl::Status status = checkTensor("reshape", x); !status.ok())
    return status;
  TensorType type{x.dtype, toVector(shape)};
  absl::StatusOr<int64_t> count = countElements("reshape", type);
  if (!count.ok())
    return count.status();
  if (*count != x.elements())
    return refuse("reshape", x.type().str(), " has ", x.elements(), " elements, ", type.str(), " has ",
                  *count);
  Tensor result = x;
  result.shape = type.shape;
  return result;
}

absl::StatusOr<Tensor> transpose(const Tensor &x, Dimensions permutation) {
  if (absl::Status status = checkTensor("transpose", x); !status.ok())
    return status;
  if (absl::Status status = checkOnePerDimension("transpose", "permutation", permutation.size(), x);
      !status.ok())
    return status;
  std::vector<int64_t> sorted = toVector(permutation);
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 0; i < sorted.size(); ++i)
    if (sorted[i] != static_cast<int64_t>(i))
      return refuse("transpose", listOf(permutation), " does not list each dimension of ", x.type().str(),
                    " once");
  std::vector<int64_t> strides = stridesOf(x.shape), shape, moved;
  for (int64_t dimension : permutation) {
    shape.push_back(x.shape[dimension]);
    moved.push_back(strides[dimension]);
  }
  return readStrided("transpose", x, std::move(shape), 0, moved);
}

absl::StatusOr<Tensor> broadcast(const Tensor &x, Dimensions shape, Dimensions dimensions) {
  if (absl::Status status = checkTensor("broadcast", x); !status.ok())
    return status;
  if (absl::Status status = checkOnePerDimension("broadcast", "dimensions", dimensions.size(), x);
      !status.ok())
    return status;
  std::vector<int64_t> strides = stridesOf(x.shape), spread(shape.size(), 0);
  std::vector<bool> taken(shape.size(), false);
  for (size_t i = 0; i < dimensions.size(); ++i) {
    int64_t to = dimensions[i];
    if (to < 0 || to >= static_cast<int64_t>(shape.size()) || taken[to])
      return refuse("broadcast", "dimensions ", listOf(dimensions),
                    " must be different dimensions of the result ",
                    TensorType{x.dtype, toVector(shape)}.str());
    taken[to] = true;
    if (x.shape[i] != 1 && x.shape[i] != shape[to])
      return refuse("broadcast", "dimension ", i, " of ", x.type().str(), " has size ", x.shape[i],
                    ", it must be 1 or ", shape[to], " to become dimension ", to, " of the result");
    spread[to] = x.shape[i] == 1 ? 0 : strides[i];
  }
  return readStrided("broadcast", x, toVector(shape), 0, spread);
}

absl::StatusOr<Tensor> slice(const Tensor &x, Dimensions offsets, Dimensions sizes) {
  if (absl::Status status = checkTensor("slice", x); !status.ok())
    return status;
  if (absl::Status status = checkOnePerDimension("slice", "offsets", offsets.size(), x); !status.ok())
    return status;
  if (absl::Status status = checkOnePerDimension("slice", "sizes", sizes.size(), x); !status.ok())
    return status;
  std::vector<int64_t> strides = stridesOf(x.shape);
  int64_t offset = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < 0 || offsets[i] < 0 || sizes[i] > x.shape[i] || offsets[i] > x.shape[i] - sizes[i])
      return refuse("slice", "offsets ", listOf(offsets), " and sizes ", listOf(sizes), " leave ",
                    x.type().str());
    offset += offsets[i] * strides[i];
  }
  return readStrided("slice", x, toVector(sizes), offset, strides);
}

absl::StatusOr<Tensor> dynamicSlice(const Tensor &x, Dimensions starts, Dimensions offsets,
                                    Dimensions sizes) {
  constexpr std::string_view op = "slice";
  if (absl::Status status = checkTensor(op, x); !status.ok())
    return status;
  if (absl::Status status = checkOnePerDimension(op, "starts", starts.size(), x); !status.ok())
    return status;
  if (absl::Status status = checkOnePerDimension(op, "offsets", offsets.size(), x); !status.ok())
    return status;
  if (absl::Status status = checkOnePerDimension(op, "sizes", sizes.size(), x); !status.ok())
    return status;
  absl::StatusOr<std::vector<int64_t>> clamped = clampStarts(op, x, starts, offsets, sizes);
  if (!clamped.ok())
    return clamped.status();
  return slice(x, *clamped, sizes);
}

absl::StatusOr<Tensor> dynamicUpdateSlice(const Tensor &x, const Tensor &update, Dimensions starts,
                                          Dimensions offsets) {
  constexpr std::string_view op = "update_slice";
  if (absl::Status status = checkTensor(op, x); !status.ok())
    return status;
  if (absl::Status status = checkTensor(op, update); !status.ok())
    return status;
  if (update.dtype != x.dtype || update.rank() != x.rank())
    return refuse(op, "the update ", update.type().str(), " must have the element type and rank of ",
                  x.type().str());
  if (absl::Status status = checkOnePerDimension(op, "starts", starts.size(), x); !status.ok())
    return status;
  if (absl::Status status = checkOnePerDimension(op, "offsets", offsets.size(), x); !status.ok())
    return status;
  absl::StatusOr<std::vector<int64_t>> clamped = clampStarts(op, x, starts, offsets, update.shape);
  if (!clamped.ok())
    return clamped.status();
  Tensor result = x;
  writeBlock(result, *clamped, update);
  return result;
}

absl::StatusOr<Tensor> concatenate(absl::Span<const Tensor> operands, int64_t dimension) {
  constexpr std::string_view op = "concatenate";
  if (operands.empty())
    return refuse(op, "needs at least one operand");
  TensorType type = operands[0].type();
  if (absl::Status status = checkDimension(op, dimension, operands[0]); !status.ok())
    return status;
  type.shape[dimension] = 0;
  for (const Tensor &operand : operands) {
    if (absl::Status status = checkTensor(op, operand); !status.ok())
      return status;
    TensorType others = operand.type();
    int64_t size =
        dimension < operand.rank() ? std::exchange(others.shape[dimension], type.shape[dimension]) : 0;
    if (others != type)
      return refuse(op, "operands ", operands[0].type().str(), " and ", operand.type().str(),
                    " must agree but for dimension ", dimension);
    type.shape[dimension] += size;
  }
  absl::StatusOr<Tensor> result = zerosFor(op, type);
  if (!result.ok())
    return result;
  std::vector<int64_t> starts(type.shape.size(), 0);
  for (const Tensor &operand : operands) {
    writeBlock(*result, starts, operand);
    starts[dimension] += operand.shape[dimension];
  }
  return result;
}

absl::StatusOr<Tensor> pad(const Tensor &x, Dimensions low, Dimensions high, double value) {
  if (absl::Status status = checkTensor("pad", x); !status.ok())
    return status;
  if (absl::Status status = checkOnePerDimension("pad", "low", low.size(), x); !status.ok())
    return status;
  if (absl::Status status = checkOnePerDimension("pad", "high", high.size(), x); !status.ok())
    return status;
  TensorType type = x.type();
  for (size_t i = 0; i < low.size(); ++i) {
    constexpr int64_t limit = int64_t{1} << 31;
    if (low[i] < 0 || high[i] < 0 || low[i] > limit || high[i] > limit)
      return refuse("pad", "low ", listOf(low), " and high ", listOf(high), " must lie in [0, 2^31]");
    type.shape[i] += low[i] + high[i];
  }
  absl::StatusOr<Tensor> result = zerosFor("pad", type);
  if (!result.ok())
    return result;
  Tensor filler{DType::F64, {}, {value}, {}};
  absl::StatusOr<Tensor> converted = cast(filler, x.dtype);
  if (!converted.ok())
    return converted;
  if (!isFloat(x.dtype) && static_cast<double>(converted->integers[0]) != value)
    return refuse("pad", "value ", value, " is not one of ", std::string(name(x.dtype)));
  withValues([](auto &out, const auto &one) { std::fill(out.begin(), out.end(), one[0]); }, *result,
             *converted);
  writeBlock(*result, low, x);
  return result;
}

} // namespace weft::reference
