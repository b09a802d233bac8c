//===- StepRun.cpp - Running nn.step: prepare, microbatches, update ---------===//
#include "compiler/interpret/Context.h"
#include "kernels/reference/Elementwise.h"
#include "kernels/reference/Rounding.h"
#include "kernels/reference/Shape.h"

using namespace mlir;

namespace weft::interpret {

absl::StatusOr<Tensor> partOfStack(const Tensor &stack, int64_t index) {
  std::vector<int64_t> offsets(stack.shape.size(), 0), sizes = stack.shape;
  offsets[0] = index;
  sizes[0] = 1;
  absl::StatusOr<Tensor> part = reference::slice(stack, offsets, sizes);
  if (!part.ok())
    return part;
  return reference::reshape(*part, absl::MakeConstSpan(stack.shape).subspan(1));
}

FailureOr<std::vector<Tensor>> Interpreter::run(nn::StepOp step, std::vector<Tensor> inputs,
                                                Variables &variables, std::vector<std::string> *written) {
  Context context{variables, Ranks::of(step)};
  FailureOr<Values> entered =
      enterAll(step, "input", step.getPrepare().getArgumentTypes(), std::move(inputs), context.ranks);
  if (failed(entered))
    return failure();
  FailureOr<Values> prepared = runBlock(step.getPrepare().front(), *entered, context);
  if (failed(prepared))
    return failure();
  FailureOr<Values> carried = runMicrobatches(step, *entered, *prepared, context);
  if (failed(carried))
    return failure();
  carried->append(prepared->begin(), prepared->end());
  FailureOr<Values> outputs = runBlock(step.getUpdate().front(), *carried, context);
  if (failed(outputs))
    return failure();
  FailureOr<std::vector<Tensor>> whole =
      leaveAll(step, step.getUpdate().front().getTerminator()->getOperandTypes(), *outputs, context.ranks);
  if (failed(whole) || failed(keepWrites(step, context, variables, written)))
    return failure();
  return whole;
}

/// Runs microbatch once per microbatch, in ascending order, and folds what it carries.
FailureOr<Interpreter::Values> Interpreter::runMicrobatches(nn::StepOp step, const Values &inputs,
                                                            const Values &prepared, Context &context) {
  Block &block = step.getMicrobatch().front();
  auto carry = cast<nn::CarryOp>(block.getTerminator());
  // A tree takes all of them at the end; sums and extremes fold on the way.
  bool foldsByTree = llvm::is_contained(carry.getCombiners().getAsValueRange<StringAttr>(), "tree");
  SmallVector<Values> given;
  for (int64_t microbatch = 0; microbatch < static_cast<int64_t>(step.getMicrobatches()); ++microbatch) {
    Values arguments;
    for (auto [index, input] : llvm::enumerate(inputs)) {
      if (step.getPrepare().getArgument(index).getType() == block.getArgument(index).getType()) {
        arguments.push_back(input);
        continue;
      }
      llvm::DenseMap<const Tensor *, Shared> parts;
      MeshValue argument;
      for (const Shared &stack : input) {
        Shared &part = parts[stack.get()];
        if (!part) {
          absl::StatusOr<Tensor> taken = partOfStack(*stack, microbatch);
          if (!taken.ok())
            return step.emitOpError() << std::string(taken.status().message());
          part = std::make_shared<const Tensor>(*std::move(taken));
        }
        argument.push_back(part);
      }
      arguments.push_back(argument);
    }
    arguments.append(prepared.begin(), prepared.end());
    FailureOr<Values> part = runBlock(block, arguments, context);
    if (failed(part))
      return failure();
    given.push_back(*std::move(part));
    if (!foldsByTree && microbatch > 0 && failed(foldCarried(carry, given)))
      return failure();
  }
  if (foldsByTree && failed(foldCarried(carry, given)))
    return failure();
  Values total = std::move(given.front());
  if (observer)
    for (auto [name, value, folded] :
         llvm::zip_equal(carry.getNames().getAsValueRange<StringAttr>(), carry.getValues(), total))
      observer->carried(name, value.getType(), folded, context.ranks);
  return total;
}

/// Folds the carried values of the microbatches `given` into one entry.
LogicalResult Interpreter::foldCarried(nn::CarryOp carry, SmallVectorImpl<Values> &given) const {
  Values folded;
  for (auto [index, combiner] : llvm::enumerate(carry.getCombiners().getAsValueRange<StringAttr>())) {
    SmallVector<MeshValue> leaves;
    for (Values &values : given)
      leaves.push_back(std::move(values[index]));
    FailureOr<MeshValue> value = fold(carry, combiner, leaves);
    if (failed(value))
      return failure();
    folded.push_back(*std::move(value));
  }
  given.assign(1, folded);
  return success();
}

/// One after another; by tree, of an even number the halves first.
FailureOr<MeshValue> Interpreter::fold(nn::CarryOp carry, StringRef combiner,
                                       ArrayRef<MeshValue> leaves) const {
  if (combiner == "tree" && leaves.size() % 2 == 0) {
    FailureOr<MeshValue> first = fold(carry, combiner, leaves.take_front(leaves.size() / 2)),
                         second = fold(carry, combiner, leaves.drop_front(leaves.size() / 2));
    return failed(first) || failed(second) ? FailureOr<MeshValue>()
                                           : combine(carry, combiner, *first, *second);
  }
  FailureOr<MeshValue> total = leaves.front();
  for (const MeshValue &leaf : leaves.drop_front())
    if (succeeded(total))
      total = combine(carry, combiner, *total, leaf);
  return total;
}

FailureOr<MeshValue> Interpreter::combine(nn::CarryOp carry, StringRef combiner, const MeshValue &so,
                                          const MeshValue &next) const {
  reference::Binary operation = combiner == "max"   ? reference::Binary::Maximum
                                : combiner == "min" ? reference::Binary::Minimum
                                                    : reference::Binary::Add;
  llvm::DenseMap<std::pair<const Tensor *, const Tensor *>, Shared> known;
  MeshValue combined;
  for (auto [left, right] : llvm::zip_equal(so, next)) {
    Shared &both = known[{left.get(), right.get()}];
    if (!both) {
      absl::StatusOr<Tensor> computed = reference::binary(operation, *left, *right);
      if (!computed.ok())
        return carry.emitOpError() << std::string(computed.status().message());
      if (types == Types::Declared)
        reference::roundTo(*computed, computed->dtype);
      both = std::make_shared<const Tensor>(*std::move(computed));
    }
    combined.push_back(both);
  }
  return combined;
}

} // namespace weft::interpret
