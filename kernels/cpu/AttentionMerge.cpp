//===- AttentionMerge.cpp - Partial attentions put together ---------------===//
//
// A tile is some positions of one batch row, with all of their heads. Each row of an output has two weights,
// exp(lse - lse'), which add up to 1: computed in float32 (float64 for f64), once per row. Everything is read
// where it is written, so a result may replace either side.
//
//===----------------------------------------------------------------------===//
#include "kernels/cpu/Signature.h"

#include <cmath>
#include <limits>

namespace weft::cpu {
namespace {

struct MergeShape {
  int64_t batch, positions, heads, width;
};

template <typename T> class AttentionMerge final : public Kernel {
public:
  explicit AttentionMerge(const MergeShape &shape) : shape(shape) {}

  /// Outputs are operands 0 and 2 and result 0, log-sum-exps the others.
  bool mayAlias(int operand, int result) const override { return operand % 2 == result; }

  void run(const KernelArguments &arguments, ThreadPool &threads) const override {
    constexpr int64_t kTileElements = 16 * 1024;
    int64_t each = std::max<int64_t>(kTileElements / (shape.heads * shape.width), 1);
    forEachPiece(threads, shape.batch * shape.positions, each, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row)
        mergePosition(arguments, row);
    });
  }

private:
  void mergePosition(const KernelArguments &arguments, int64_t row) const {
    const T *left = static_cast<const T *>(arguments.operands[0]);
    const T *leftLse = static_cast<const T *>(arguments.operands[1]);
    const T *right = static_cast<const T *>(arguments.operands[2]);
    const T *rightLse = static_cast<const T *>(arguments.operands[3]);
    T *output = static_cast<T *>(arguments.results[0]), *lse = static_cast<T *>(arguments.results[1]);
    const int64_t sample = row / shape.positions, position = row % shape.positions;
    for (int64_t head = 0; head < shape.heads; ++head) {
      const int64_t statistic = (sample * shape.heads + head) * shape.positions + position;
      const int64_t first = (row * shape.heads + head) * shape.width;
      const Weights weights = weigh(leftLse[statistic], rightLse[statistic]);
      lse[statistic] = weights.lse;
      for (int64_t i = first; i < first + shape.width; ++i)
        output[i] = left[i] * weights.left + right[i] * weights.right;
    }
  }

  struct Weights {
    T left, right, lse;
  };
  static Weights weigh(T left, T right) {
    constexpr T kNone = -std::numeric_limits<T>::infinity();
    if (left == kNone && right == kNone)
      return {0, 0, kNone};
    const T most = std::max(left, right);
    const T leftShare = std::exp(left - most), rightShare = std::exp(right - most);
    const T total = leftShare + rightShare;
    return {leftShare / total, rightShare / total, most + std::log(total)};
  }

  MergeShape shape;
};

} // namespace

KernelOrError createAttentionMerge(const KernelCall &call) {
  WEFT_CHECK_CALL(expectCounts(call, 4, 2));
  const TensorType &output = call.operands[0];
  if (output.shape.size() != 4 || (output.dtype != DType::F32 && output.dtype != DType::F64))
    return invalidCall(call, "outputs must be f32 or f64 with 4 dimensions, got ", output.str());
  const MergeShape shape = {output.shape[0], output.shape[1], output.shape[2], output.shape[3]};
  const TensorType lse = {output.dtype, {shape.batch, shape.heads, shape.positions}};
  WEFT_CHECK_CALL(expectType(call, "lse", call.operands[1], lse));
  WEFT_CHECK_CALL(expectType(call, "the other output", call.operands[2], output));
  WEFT_CHECK_CALL(expectType(call, "the other lse", call.operands[3], lse));
  WEFT_CHECK_CALL(expectType(call, "result 0", call.results[0], output));
  WEFT_CHECK_CALL(expectType(call, "result 1", call.results[1], lse));
  for (int64_t size : output.shape)
    if (size == 0)
      return invalidCall(call, "outputs are ", output.str(), ", but no dimension may be empty");
  if (output.dtype == DType::F64)
    return std::make_unique<AttentionMerge<double>>(shape);
  return std::make_unique<AttentionMerge<float>>(shape);
}

} // namespace weft::cpu
