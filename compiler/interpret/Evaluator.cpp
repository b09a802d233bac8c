#include "compiler/interpret/Evaluator.h"

#include "compiler/interpret/BlockWalk.h"
#include "compiler/interpret/Primitives.h"
#include "dialects/nn/NnDialect.h"
#include "kernels/reference/Rounding.h"

using namespace mlir;

namespace weft::interpret {
namespace {

/// The same values under another float type, which exact evaluation does not round to.
Shared relabeled(const Shared &value, const std::optional<TensorType> &type) {
  if (!type || type->dtype == value->dtype)
    return value;
  auto copy = std::make_shared<Tensor>(*value);
  copy->dtype = type->dtype;
  return copy;
}

} // namespace

FailureOr<SmallVector<Shared>> Evaluator::evaluate(Operation *op, ArrayRef<Shared> operands) {
  if (isa<nn::BoundaryOp, nn::LeafOp, nn::StopGradientOp>(op))
    return SmallVector<Shared>(operands);
  SmallVector<const Tensor *> pointers;
  for (const Shared &operand : operands)
    pointers.push_back(operand.get());
  std::optional<absl::StatusOr<std::vector<Tensor>>> computed = evaluatePrimitive(op, pointers);
  if (!computed)
    return evaluateComposite(op, operands);
  if (!computed->ok())
    return op->emitOpError() << std::string(computed->status().message());
  SmallVector<Shared> results;
  for (Tensor &tensor : **computed) {
    if (types == Types::Declared)
      reference::roundTo(tensor, tensor.dtype);
    results.push_back(std::make_shared<const Tensor>(std::move(tensor)));
  }
  return results;
}

/// Values take the types of the decomposition on their way in, and those of the op on their way out.
FailureOr<SmallVector<Shared>> Evaluator::evaluateComposite(Operation *op, ArrayRef<Shared> operands) {
  FailureOr<Decomposition *> meaning = decompositions.of(op);
  if (failed(meaning))
    return failure();
  if (!*meaning)
    return op->emitOpError() << "is neither a primitive nor a composite: the interpreter cannot evaluate it";
  SmallVector<Shared> inside;
  for (auto [operand, argument] : llvm::zip_equal(operands, (*meaning)->block.getArguments()))
    inside.push_back(relabeled(operand, tensorTypeOf(argument.getType())));
  FailureOr<SmallVector<Shared>> results =
      walkBlock<Shared>((*meaning)->block, inside, (*meaning)->results,
                        [&](Operation *inner, ArrayRef<Shared> values) { return evaluate(inner, values); });
  if (failed(results))
    return failure();
  for (auto [result, type] : llvm::zip_equal(*results, op->getResultTypes()))
    result = relabeled(result, tensorTypeOf(type));
  return results;
}

} // namespace weft::interpret
