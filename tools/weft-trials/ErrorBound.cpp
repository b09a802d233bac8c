#include "tools/weft-trials/ErrorBound.h"

#include "compiler/interpret/Primitives.h"
#include "kernels/reference/Casts.h"
#include "kernels/reference/Einsum.h"
#include "kernels/reference/Indexing.h"
#include "kernels/reference/Reduce.h"
#include "kernels/reference/Shape.h"
#include "tools/weft-trials/ElementwiseError.h"
#include "tools/weft-trials/RoundingError.h"

#include "llvm/ADT/TypeSwitch.h"

#include <limits>

using namespace mlir;

namespace weft::trials {

const char kErrorFormula[] = "tolerance: rounding errors of the decomposition, propagated element by "
                             "element: u |result| for each rounding to "
                             "a type (bf16 2^-8, f32 2^-24, f64 2^-53), (n + 1) u(A) sum|terms| for a sum of "
                             "n terms accumulated in A (f32, "
                             "or f64 for f64), 4 u(A) more for exp, log, tanh and the like; twice that for "
                             "f64, as the reference rounds too";

namespace {
constexpr double kInfinity = std::numeric_limits<double>::infinity();

using Operands = ArrayRef<const Bounded *>;
using Errors = std::vector<double>;

/// A tensor of reals with these values.
Tensor realTensor(const std::vector<int64_t> &shape, std::vector<double> values) {
  return {DType::F64, shape, std::move(values), {}};
}
Tensor errorTensor(const Bounded &operand) { return realTensor(operand.value.shape, operand.error); }
Tensor absolute(const Tensor &value) {
  std::vector<double> values(value.reals.size());
  for (auto [to, from] : llvm::zip_equal(values, value.reals))
    to = std::abs(from);
  return realTensor(value.shape, std::move(values));
}
/// Integers are exact wherever what they come from is.
bool isExactInteger(const Tensor &value) { return !isFloat(value.dtype); }

/// The error of a sum of `n` terms: what the terms bring, and every addition.
Errors sumError(const Tensor &carried, const Tensor &magnitude, const Tensor &result, int64_t n) {
  DType accumulation = accumulationType(result.dtype);
  Errors errors(result.reals.size());
  for (size_t index = 0; index < errors.size(); ++index) {
    double terms = magnitude.reals[index];
    errors[index] = carried.reals[index];
    if (terms != 0.0)
      errors[index] += static_cast<double>(n + 1) *
                           (times(unitRoundoff(accumulation), terms) + smallestNormal(accumulation)) +
                       times(unitRoundoff(result.dtype), std::abs(result.reals[index]));
  }
  return errors;
}

/// How many products are added for one element.
int64_t contractionLength(nn::EinsumOp op) {
  int64_t length = op.flops() / 2;
  return length / std::max<int64_t>(1, nn::elementCount(op.getResult()));
}

Errors einsumError(nn::EinsumOp op, Operands operands, const Tensor &result) {
  auto product = [&](const Tensor &x, const Tensor &y) {
    return *reference::einsum(std::string_view(op.getEquation()), std::vector<Tensor>{x, y}, DType::F64);
  };
  Tensor x = absolute(operands[0]->value), y = absolute(operands[1]->value);
  Tensor ex = errorTensor(*operands[0]), ey = errorTensor(*operands[1]);
  Tensor carried = product(x, ey);
  for (const Tensor &part : {product(ex, y), product(ex, ey)})
    for (auto [to, from] : llvm::zip_equal(carried.reals, part.reals))
      to += from;
  return sumError(carried, product(x, y), result, contractionLength(op));
}

Errors reduceError(nn::ReduceOp op, Operands operands, const Tensor &result) {
  if (isExactInteger(result))
    return Errors(result.integers.size(), 0.0);
  reference::Dimensions dimensions(op.getDimensions().data(), op.getDimensions().size());
  auto fold = [&](reference::Reduction kind, const Tensor &x) {
    return *reference::reduce(kind, x, dimensions);
  };
  Tensor errors = errorTensor(*operands[0]);
  if (op.getKind() != nn::Reduction::sum)
    return fold(reference::Reduction::Max, errors).reals;
  int64_t n = nn::elementCount(op.getOperand()) / std::max<int64_t>(1, nn::elementCount(op.getResult()));
  return sumError(fold(reference::Reduction::Sum, errors),
                  fold(reference::Reduction::Sum, absolute(operands[0]->value)), result, n);
}

Errors cumulativeSumError(nn::CumulativeSumOp op, Operands operands, const Tensor &result) {
  if (isExactInteger(result))
    return Errors(result.integers.size(), 0.0);
  auto dimension = static_cast<int64_t>(op.getDimension());
  return sumError(*reference::cumulativeSum(errorTensor(*operands[0]), dimension),
                  *reference::cumulativeSum(absolute(operands[0]->value), dimension), result,
                  result.shape[dimension]);
}

Errors scatterError(nn::ScatterAddOp op, Operands operands, const Tensor &result) {
  const Tensor &indices = operands[0]->value;
  auto scatter = [&](const Tensor &rows) { return *reference::scatterAdd(indices, rows, result.shape[0]); };
  return sumError(scatter(errorTensor(*operands[1])), scatter(absolute(operands[1]->value)), result,
                  indices.elements());
}

/// Ops that only move elements move their errors.
std::optional<Errors> movedErrors(Operation *op, Operands operands) {
  if (auto pad = dyn_cast<nn::PadOp>(op))
    return reference::pad(errorTensor(*operands[0]), {pad.getLow().data(), pad.getLow().size()},
                          {pad.getHigh().data(), pad.getHigh().size()}, 0.0)
        ->reals;
  if (!isa<nn::ReshapeOp, nn::TransposeOp, nn::BroadcastOp, nn::SliceOp, nn::UpdateSliceOp, nn::ConcatenateOp,
           nn::GatherOp>(op))
    return std::nullopt;
  size_t moved = isa<nn::ConcatenateOp>(op) ? operands.size() : isa<nn::UpdateSliceOp>(op) ? 2 : 1;
  std::vector<Tensor> tensors;
  SmallVector<const Tensor *> pointers;
  for (const Bounded *operand : operands.take_front(moved))
    tensors.push_back(errorTensor(*operand));
  for (auto [index, operand] : llvm::enumerate(operands))
    pointers.push_back(index < moved ? &tensors[index] : &operand->value);
  return (**interpret::evaluatePrimitive(op, pointers)).front().reals;
}

/// What is known when the program is built; a constant that is no integer was rounded to its type.
Errors generatedError(const Tensor &value, bool rounded) {
  Errors errors(value.elements(), 0.0);
  if (rounded && isFloat(value.dtype))
    for (auto [error, number] : llvm::zip_equal(errors, value.reals))
      if (std::isfinite(number) && number != std::floor(number))
        error = unitRoundoff(value.dtype) * std::abs(number);
  return errors;
}

std::optional<Errors> errorsOf(Operation *op, Operands operands, const Tensor &result) {
  using Result = std::optional<Errors>;
  if (Result moved = movedErrors(op, operands))
    return moved;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](nn::EinsumOp e) { return einsumError(e, operands, result); })
      .Case([&](nn::ReduceOp r) { return reduceError(r, operands, result); })
      .Case([&](nn::CumulativeSumOp c) { return cumulativeSumError(c, operands, result); })
      .Case([&](nn::ScatterAddOp s) { return scatterError(s, operands, result); })
      .Case([&](nn::TopKOp) { return generatedError(result, false); }) // values and places of exact operands
      .Case([&](nn::ConstantOp) { return generatedError(result, true); })
      .Case<nn::IotaOp>([&](auto) { return generatedError(result, false); })
      .Case<nn::RandomUniformOp>([&](auto) { return generatedError(result, false); })
      .Case<nn::BoundaryOp, nn::LeafOp, nn::StopGradientOp>([&](auto) { return operands[0]->error; })
      .Default([&](Operation *other) { return elementwiseErrors(other, operands, result); });
}

/// Where a value may leave the range of its type, nothing is known of it.
void leaveRange(Bounded &bounded) {
  if (!isFloat(bounded.value.dtype))
    return;
  double largest = largestFinite(bounded.value.dtype);
  for (auto [value, error] : llvm::zip_equal(bounded.value.reals, bounded.error))
    if (std::isnan(value) || std::isnan(error) || (std::isfinite(value) && std::abs(value) + error > largest))
      error = kInfinity;
}
} // namespace

double largestFinite(DType type) {
  switch (type) {
  case DType::BF16:
    return 0x1.FEp127;
  case DType::F16:
    return 65504.0;
  case DType::F32:
    return std::numeric_limits<float>::max();
  default:
    return std::numeric_limits<double>::max();
  }
}

FailureOr<std::vector<Bounded>> boundErrors(func::FuncOp function, const std::vector<Tensor> &operands) {
  Block &block = function.getBody().front();
  DenseMap<Value, Bounded> values;
  for (auto [argument, operand] : llvm::zip_equal(block.getArguments(), operands))
    values[argument] = {operand, Errors(operand.elements(), 0.0)};
  for (Operation &op : block.without_terminator()) {
    SmallVector<const Bounded *> bounded;
    SmallVector<const Tensor *> tensors;
    for (Value operand : op.getOperands()) {
      bounded.push_back(&values.find(operand)->second);
      tensors.push_back(&bounded.back()->value);
    }
    std::vector<Tensor> results;
    if (isa<nn::BoundaryOp, nn::LeafOp, nn::StopGradientOp>(op)) {
      results.push_back(*tensors[0]);
    } else {
      auto computed = interpret::evaluatePrimitive(&op, tensors);
      if (!computed || !computed->ok())
        return op.emitOpError() << "cannot be evaluated";
      results = **std::move(computed);
    }
    SmallVector<Bounded> defined;
    for (Tensor &result : results) {
      std::optional<Errors> errors = errorsOf(&op, bounded, result);
      if (!errors)
        return op.emitOpError()
               << "has no rule for its rounding: add one in tools/weft-trials/ErrorBound.cpp";
      defined.push_back({std::move(result), std::move(*errors)});
      leaveRange(defined.back());
    }
    for (auto [result, bound] : llvm::zip_equal(op.getResults(), defined))
      values[result] = std::move(bound);
  }
  std::vector<Bounded> results;
  for (Value result : block.getTerminator()->getOperands()) {
    results.push_back(values.find(result)->second);
    if (results.back().value.dtype == DType::F64) // the exact side rounds to float64 just as well
      for (double &error : results.back().error)
        error *= 2.0;
  }
  return results;
}

} // namespace weft::trials
