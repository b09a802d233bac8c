//===- Norm.cpp - rms_norm, layer_norm and their backward kernels ---------===//
//
// Rows are independent but for the gradients of weight and bias: these are summed over blocks of rows, at
// most 64 of them, each into its own line of the workspace, and the lines are added in order.
//
//===----------------------------------------------------------------------===//
#include "kernels/cpu/NormLoops.h"
#include "kernels/cpu/Signature.h"

namespace weft::cpu {
namespace {

struct NormShape {
  int64_t rows, width;
  DType sumType; ///< in which the kernel computes
};

/// Checks that every tensor holds floats and that x has rows.
absl::StatusOr<NormShape> readShape(const KernelCall &call, const TensorType &x) {
  for (const auto &types : {call.operands, call.results})
    for (const TensorType &type : types)
      WEFT_CHECK_CALL(expectFloat(call, "every tensor", type));
  if (x.shape.empty())
    return invalidCall(call, "x must have rows, got ", x.str());
  int64_t width = x.shape.back();
  return NormShape{sizeOfDimensions(x.shape, 0, x.shape.size() - 1), width,
                   x.dtype == DType::F64 ? DType::F64 : DType::F32};
}

absl::Status expectVector(const KernelCall &call, const char *what, const TensorType &got, int64_t width) {
  return expectType(call, what, got, {got.dtype, {width}});
}

absl::Status expectStatistics(const KernelCall &call, const char *what, const TensorType &got,
                              const TensorType &x) {
  return expectType(call, what, got, {DType::F32, std::vector<int64_t>(x.shape.begin(), x.shape.end() - 1)});
}

int64_t rowsAtATime(const NormShape &shape) {
  return std::max<int64_t>(16 * 1024 / std::max<int64_t>(shape.width, 1), 1);
}

struct Attributes {
  double epsilon = 0, offset = 0;
};
absl::StatusOr<Attributes> readAttributes(const KernelCall &call, bool isCentered) {
  auto epsilon = call.number("epsilon");
  if (!epsilon.ok())
    return epsilon.status();
  if (!(*epsilon >= 0))
    return invalidCall(call, "epsilon must not be negative, got ", *epsilon);
  return Attributes{*epsilon, isCentered ? 0.0 : call.numberOr("weight_offset", 0.0)};
}

/// (x, w[, b]) -> y[, mean], rstd.
KernelOrError createForward(const KernelCall &call, bool isCentered) {
  WEFT_CHECK_CALL(expectCounts(call, isCentered ? 3 : 2, isCentered ? 3 : 2));
  const TensorType &x = call.operands[0];
  auto shape = readShape(call, x);
  if (!shape.ok())
    return shape.status();
  auto attributes = readAttributes(call, isCentered);
  if (!attributes.ok())
    return attributes.status();
  WEFT_CHECK_CALL(expectVector(call, "w", call.operands[1], shape->width));
  WEFT_CHECK_CALL(expectType(call, "y", call.results[0], x));
  if (isCentered) {
    WEFT_CHECK_CALL(expectVector(call, "b", call.operands[2], shape->width));
    WEFT_CHECK_CALL(expectStatistics(call, "mean", call.results[1], x));
  }
  WEFT_CHECK_CALL(expectStatistics(call, "rstd", call.results.back(), x));
  NormForward norm{};
  norm.xType = norm.yType = x.dtype;
  norm.weightType = call.operands[1].dtype;
  norm.biasType = call.operands.back().dtype;
  norm.width = shape->width;
  norm.epsilon = attributes->epsilon, norm.offset = attributes->offset;
  norm.isCentered = isCentered;
  auto body = [norm, shape = *shape](const KernelArguments &arguments, ThreadPool &threads) {
    NormForward bound = norm;
    bound.x = arguments.operands[0], bound.weight = arguments.operands[1];
    bound.y = arguments.results[0];
    bound.rstd = static_cast<float *>(arguments.results.back());
    if (norm.isCentered) {
      bound.bias = arguments.operands[2];
      bound.mean = static_cast<float *>(arguments.results[1]);
    }
    forEachPiece(threads, shape.rows, rowsAtATime(shape),
                 [&](int64_t begin, int64_t end) { normalizeRows(bound, begin, end); });
  };
  return makeKernel(body, 0, true);
}

/// (dy, x, w[, mean], rstd) -> dx, dw[, db].
KernelOrError createBackward(const KernelCall &call, bool isCentered) {
  WEFT_CHECK_CALL(expectCounts(call, isCentered ? 5 : 4, isCentered ? 3 : 2));
  const TensorType &x = call.operands[1];
  auto shape = readShape(call, x);
  if (!shape.ok())
    return shape.status();
  auto attributes = readAttributes(call, isCentered);
  if (!attributes.ok())
    return attributes.status();
  WEFT_CHECK_CALL(expectType(call, "dy", call.operands[0], {call.operands[0].dtype, x.shape}));
  WEFT_CHECK_CALL(expectVector(call, "w", call.operands[2], shape->width));
  WEFT_CHECK_CALL(expectType(call, "dx", call.results[0], {call.results[0].dtype, x.shape}));
  WEFT_CHECK_CALL(expectVector(call, "dw", call.results[1], shape->width));
  if (isCentered) {
    WEFT_CHECK_CALL(expectStatistics(call, "mean", call.operands[3], x));
    WEFT_CHECK_CALL(expectVector(call, "db", call.results[2], shape->width));
  }
  WEFT_CHECK_CALL(expectStatistics(call, "rstd", call.operands.back(), x));
  NormBackward norm{};
  norm.dyType = call.operands[0].dtype, norm.xType = x.dtype, norm.weightType = call.operands[2].dtype;
  norm.dxType = call.results[0].dtype;
  norm.width = shape->width, norm.offset = attributes->offset, norm.isCentered = isCentered;

  constexpr int64_t kMostBlocks = 64;
  int64_t blockRows = std::max(rowsAtATime(*shape), (shape->rows + kMostBlocks - 1) / kMostBlocks);
  int64_t blocks = (shape->rows + blockRows - 1) / blockRows;
  int64_t lineBytes = (shape->width * byteSize(shape->sumType) + 63) / 64 * 64;
  int64_t side = blocks * lineBytes;
  DType weightGradient = call.results[1].dtype, biasGradient = call.results.back().dtype;
  auto body = [=, shape = *shape](const KernelArguments &arguments, ThreadPool &threads) {
    NormBackward bound = norm;
    bound.dy = arguments.operands[0], bound.x = arguments.operands[1], bound.weight = arguments.operands[2];
    bound.rstd = static_cast<const float *>(arguments.operands.back());
    bound.mean = norm.isCentered ? static_cast<const float *>(arguments.operands[3]) : nullptr;
    bound.dx = arguments.results[0];
    void *weightSums = arguments.workspace, *biasSums = at(arguments.workspace, norm.isCentered ? side : 0);
    forEachPiece(threads, shape.rows, blockRows, [&](int64_t begin, int64_t end) {
      int64_t line = begin / blockRows * lineBytes;
      normalizeRowsBackward(bound, begin, end, at(weightSums, line), at(biasSums, line));
    });
    int64_t stride = lineBytes / byteSize(shape.sumType);
    forEachPiece(threads, shape.width, 4096, [&](int64_t begin, int64_t end) {
      foldBlocks(shape.sumType, weightSums, blocks, stride, begin, end, weightGradient, arguments.results[1]);
      if (norm.isCentered)
        foldBlocks(shape.sumType, biasSums, blocks, stride, begin, end, biasGradient, arguments.results[2]);
    });
  };
  bool dyIsLikeDx = call.operands[0] == call.results[0];
  return makeKernel(body, isCentered ? 2 * side : side, dyIsLikeDx);
}

} // namespace

KernelOrError createRmsNorm(const KernelCall &call) { return createForward(call, false); }
KernelOrError createRmsNormBackward(const KernelCall &call) { return createBackward(call, false); }
KernelOrError createLayerNorm(const KernelCall &call) { return createForward(call, true); }
KernelOrError createLayerNormBackward(const KernelCall &call) { return createBackward(call, true); }

} // namespace weft::cpu
