#include "kernels/reference/Indexing.h"

#include "kernels/reference/Checks.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace weft::reference {
namespace {

absl::Status checkIndices(std::string_view op, const Tensor &indices) {
  if (absl::Status status = checkTensor(op, indices); !status.ok())
    return status;
  if (indices.dtype != DType::I32 && indices.dtype != DType::I64)
    return refuse(op, "indices must be i32 or i64, they are ", indices.type().str());
  return absl::OkStatus();
}

bool isNotANumber(double value) { return std::isnan(value); }
bool isNotANumber(int64_t) { return false; }

/// Adds the update rows to `out` in the order of `indices`; integer sums wrap at `dtype`.
void addRows(std::vector<double> &out, const std::vector<double> &updates, int64_t row, int64_t to,
             int64_t width, DType) {
  for (int64_t i = 0; i < width; ++i)
    out[to * width + i] += updates[row * width + i];
}
void addRows(std::vector<int64_t> &out, const std::vector<int64_t> &updates, int64_t row, int64_t to,
             int64_t width, DType dtype) {
  for (int64_t i = 0; i < width; ++i) {
    uint64_t sum =
        static_cast<uint64_t>(out[to * width + i]) + static_cast<uint64_t>(updates[row * width + i]);
    out[to * width + i] = wrapInteger(dtype, static_cast<int64_t>(sum));
  }
}

} // namespace

absl::StatusOr<Tensor> gather(const Tensor &table, const Tensor &indices) {
  if (absl::Status status = checkTensor("gather", table); !status.ok())
    return status;
  if (absl::Status status = checkIndices("gather", indices); !status.ok())
    return status;
  if (table.rank() == 0)
    return refuse("gather", "the table must have rows, it is ", table.type().str());
  TensorType type{table.dtype, indices.shape};
  type.shape.insert(type.shape.end(), table.shape.begin() + 1, table.shape.end());
  absl::StatusOr<Tensor> result = zerosFor("gather", type);
  if (!result.ok())
    return result;
  int64_t rows = table.shape[0], width = rows == 0 ? 0 : table.elements() / rows;
  withValues(
      [&](auto &out, const auto &in) {
        for (size_t i = 0; i < indices.integers.size(); ++i)
          if (int64_t row = indices.integers[i]; row >= 0 && row < rows)
            std::copy_n(in.begin() + row * width, width, out.begin() + static_cast<int64_t>(i) * width);
      },
      *result, table);
  return result;
}

absl::StatusOr<Tensor> scatterAdd(const Tensor &indices, const Tensor &updates, int64_t rows) {
  constexpr std::string_view op = "scatter_add";
  if (absl::Status status = checkIndices(op, indices); !status.ok())
    return status;
  if (absl::Status status = checkTensor(op, updates); !status.ok())
    return status;
  if (updates.dtype == DType::I1)
    return refuse(op, "updates must be i32, i64 or of a float type, they are ", updates.type().str());
  if (updates.rank() < indices.rank() ||
      !std::equal(indices.shape.begin(), indices.shape.end(), updates.shape.begin()))
    return refuse(op, "updates ", updates.type().str(), " must begin with the shape of the indices ",
                  indices.type().str());
  TensorType type{updates.dtype, {rows}};
  type.shape.insert(type.shape.end(), updates.shape.begin() + indices.rank(), updates.shape.end());
  absl::StatusOr<Tensor> result = zerosFor(op, type);
  if (!result.ok())
    return result;
  int64_t width = rows == 0 ? 0 : result->elements() / rows;
  withValues(
      [&](auto &out, const auto &in) {
        for (size_t i = 0; i < indices.integers.size(); ++i)
          if (int64_t to = indices.integers[i]; to >= 0 && to < rows)
            addRows(out, in, static_cast<int64_t>(i), to, width, updates.dtype);
      },
      *result, updates);
  return result;
}

absl::StatusOr<std::pair<Tensor, Tensor>> topK(const Tensor &x, int64_t k) {
  if (absl::Status status = checkTensor("top_k", x); !status.ok())
    return status;
  if (x.rank() == 0 || k < 0 || k > x.shape.back())
    return refuse("top_k", "k = ", k, " does not fit the last dimension of ", x.type().str());
  int64_t n = x.shape.back(), rows = n == 0 ? 0 : x.elements() / n;
  TensorType type = x.type();
  type.shape.back() = k;
  absl::StatusOr<Tensor> values = zerosFor("top_k", type);
  absl::StatusOr<Tensor> indices = zerosFor("top_k", {DType::I32, type.shape});
  if (!values.ok())
    return values.status();
  if (!indices.ok())
    return indices.status();
  withValues(
      [&](auto &out, const auto &in) {
        std::vector<int64_t> order(n);
        for (int64_t row = 0; row < rows; ++row) {
          auto value = [&](int64_t i) { return in[row * n + i]; };
          std::iota(order.begin(), order.end(), 0);
          std::partial_sort(order.begin(), order.begin() + k, order.end(), [&](int64_t a, int64_t b) {
            bool lastA = isNotANumber(value(a)), lastB = isNotANumber(value(b));
            if (lastA != lastB)
              return lastB;
            return lastA || value(a) == value(b) ? a < b : value(a) > value(b);
          });
          for (int64_t i = 0; i < k; ++i) {
            out[row * k + i] = value(order[i]);
            indices->integers[row * k + i] = order[i];
          }
        }
      },
      *values, x);
  return std::make_pair(*std::move(values), *std::move(indices));
}

} // namespace weft::reference
