#include "compiler/interpret/Primitives.h"

#include "dialects/nn/NnDialect.h"
#include "kernels/reference/Casts.h"
#include "kernels/reference/Einsum.h"
#include "kernels/reference/Elementwise.h"
#include "kernels/reference/Generate.h"
#include "kernels/reference/Indexing.h"
#include "kernels/reference/Reduce.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace weft::interpret {
namespace {

using Operands = ArrayRef<const Tensor *>;
using One = absl::StatusOr<Tensor>;

/// Verified by the op: a static tensor of an element type that kernels know.
TensorType resultType(Operation *op) { return *tensorTypeOf(op->getResult(0).getType()); }

reference::Dimensions dimensions(ArrayRef<int64_t> values) { return {values.data(), values.size()}; }

std::vector<Tensor> copies(Operands operands) {
  std::vector<Tensor> tensors;
  for (const Tensor *operand : operands)
    tensors.push_back(*operand);
  return tensors;
}

One slice(nn::SliceOp op, Operands operands) {
  TensorType type = resultType(op);
  if (op.getStarts().empty())
    return reference::slice(*operands[0], dimensions(op.getOffsets()), type.shape);
  std::vector<int64_t> starts;
  for (const Tensor *start : operands.drop_front())
    starts.push_back(start->integers[0]);
  return reference::dynamicSlice(*operands[0], starts, dimensions(op.getOffsets()), type.shape);
}

One updateSlice(nn::UpdateSliceOp op, Operands operands) {
  std::vector<int64_t> starts(op.getOffsets().size(), 0);
  for (auto [start, given] : llvm::zip(starts, operands.drop_front(2)))
    start = given->integers[0];
  return reference::dynamicUpdateSlice(*operands[0], *operands[1], starts, dimensions(op.getOffsets()));
}

/// Sums in the result's type, which may be another one than the operand's.
One reduce(nn::ReduceOp op, Operands operands) {
  absl::StatusOr<Tensor> x = reference::cast(*operands[0], resultType(op).dtype);
  if (!x.ok())
    return x;
  reference::Reduction kind =
      *reference::reductionFromName(std::string_view(nn::stringifyReduction(op.getKind())));
  return reference::reduce(kind, *x, dimensions(op.getDimensions()));
}

One scatterAdd(nn::ScatterAddOp op, Operands operands) {
  TensorType type = resultType(op);
  absl::StatusOr<Tensor> sums = reference::scatterAdd(*operands[0], *operands[1], type.shape[0]);
  return sums.ok() ? reference::cast(*sums, type.dtype) : sums;
}

One randomUniform(nn::RandomUniformOp op, Operands operands) {
  return reference::randomUniform(*operands[0], *operands[1], resultType(op).shape, op.getSeed(),
                                  op.getOpId());
}

One compare(nn::CompareOp op, Operands operands) {
  std::string_view name(nn::stringifyComparison(op.getComparison()));
  return reference::compare(*reference::comparisonFromName(name), *operands[0], *operands[1]);
}

/// The primitives with attributes or types of their own, and one result.
std::optional<One> evaluateOne(Operation *operation, Operands operands) {
  using Result = std::optional<One>;
  return llvm::TypeSwitch<Operation *, Result>(operation)
      .Case([&](nn::ConstantOp op) -> Result { return constantValue(op.getValue()); })
      .Case([&](nn::IotaOp op) -> Result { return reference::iota(resultType(op), op.getDimension()); })
      .Case([&](nn::RandomUniformOp op) -> Result { return randomUniform(op, operands); })
      .Case([&](nn::CastOp op) -> Result { return reference::cast(*operands[0], resultType(op).dtype); })
      .Case([&](nn::CompareOp op) -> Result { return compare(op, operands); })
      .Case(
          [&](nn::SelectOp) -> Result { return reference::select(*operands[0], *operands[1], *operands[2]); })
      .Case(
          [&](nn::ReshapeOp op) -> Result { return reference::reshape(*operands[0], resultType(op).shape); })
      .Case([&](nn::TransposeOp op) -> Result {
        return reference::transpose(*operands[0], dimensions(op.getPermutation()));
      })
      .Case([&](nn::BroadcastOp op) -> Result {
        return reference::broadcast(*operands[0], resultType(op).shape, dimensions(op.getDimensions()));
      })
      .Case([&](nn::SliceOp op) -> Result { return slice(op, operands); })
      .Case([&](nn::UpdateSliceOp op) -> Result { return updateSlice(op, operands); })
      .Case([&](nn::ConcatenateOp op) -> Result {
        return reference::concatenate(copies(operands), static_cast<int64_t>(op.getDimension()));
      })
      .Case([&](nn::PadOp op) -> Result {
        return reference::pad(*operands[0], dimensions(op.getLow()), dimensions(op.getHigh()),
                              op.getValue().convertToDouble());
      })
      .Case([&](nn::GatherOp) -> Result { return reference::gather(*operands[0], *operands[1]); })
      .Case([&](nn::ScatterAddOp op) -> Result { return scatterAdd(op, operands); })
      .Case([&](nn::EinsumOp op) -> Result {
        return reference::einsum(std::string_view(op.getEquation()), copies(operands), resultType(op).dtype);
      })
      .Case([&](nn::ReduceOp op) -> Result { return reduce(op, operands); })
      .Case([&](nn::CumulativeSumOp op) -> Result {
        return reference::cumulativeSum(*operands[0], static_cast<int64_t>(op.getDimension()));
      })
      .Default([](Operation *) -> Result { return std::nullopt; });
}

/// The element-wise primitives have the reference's names.
std::optional<One> evaluateByName(Operation *op, Operands operands) {
  if (!isa_and_nonnull<nn::NnDialect>(op->getDialect()))
    return std::nullopt;
  std::string_view name(op->getName().stripDialect());
  if (std::optional<reference::Unary> unary = reference::unaryFromName(name); unary && operands.size() == 1)
    return reference::unary(*unary, *operands[0]);
  if (std::optional<reference::Binary> binary = reference::binaryFromName(name);
      binary && operands.size() == 2)
    return reference::binary(*binary, *operands[0], *operands[1]);
  return std::nullopt;
}

} // namespace

std::optional<absl::StatusOr<std::vector<Tensor>>> evaluatePrimitive(Operation *op, Operands operands) {
  using Results = absl::StatusOr<std::vector<Tensor>>;
  if (isa<nn::TopKOp>(op)) {
    auto pair = reference::topK(*operands[0], resultType(op).shape.back());
    if (!pair.ok())
      return Results(pair.status());
    return Results(std::vector<Tensor>{std::move(pair->first), std::move(pair->second)});
  }
  std::optional<One> result = evaluateOne(op, operands);
  if (!result)
    result = evaluateByName(op, operands);
  if (!result)
    return std::nullopt;
  if (!result->ok())
    return Results(result->status());
  std::vector<Tensor> results;
  results.push_back(**std::move(result));
  return Results(std::move(results));
}

} // namespace weft::interpret
