#include "passes/pipeline/StepSlots.h"

#include "dialects/dist/Placement.h"
#include "passes/pipeline/TreeFolds.h"

#include "llvm/ADT/SetVector.h"

#include <limits>

using namespace mlir;

namespace weft {

using namespace weft::nn;

SmallVector<StepInput> inputsOf(StepOp step) {
  SmallVector<StepInput> inputs;
  for (auto [index, name] : llvm::enumerate(step.getInputNames())) {
    auto part = cast<RankedTensorType>(step.getMicrobatch().getArgument(index).getType());
    inputs.push_back(
        {cast<StringAttr>(name).getValue(), part, step.getPrepare().getArgument(index).getType() != part});
  }
  return inputs;
}

SmallVector<SmallVector<StringRef>> preparedVariables(StepOp step) {
  SmallVector<SmallVector<StringRef>> variables;
  for (Value value : step.getPrepare().front().getTerminator()->getOperands()) {
    llvm::SetVector<Operation *> ops;
    SmallVector<Value> work = {value};
    while (!work.empty())
      if (Operation *op = work.pop_back_val().getDefiningOp(); op && ops.insert(op))
        llvm::append_range(work, op->getOperands());
    SmallVector<StringRef> &names = variables.emplace_back();
    for (Operation *op : ops)
      if (auto read = dyn_cast<ReadOp>(op))
        names.push_back(read.getVariable());
  }
  return variables;
}

/// The type of `count` parts, stacked along a new first dimension.
static RankedTensorType stackOf(RankedTensorType part, int64_t count) {
  SmallVector<int64_t> shape(dist::wholeShape(part));
  shape.insert(shape.begin(), count);
  dist::Placement placement = dist::placementOf(part);
  if (!placement)
    return RankedTensorType::get(shape, part.getElementType());
  placement.splits.insert(placement.splits.begin(), dist::Split());
  return dist::isLocal(part) ? dist::localType(shape, part.getElementType(), placement)
                             : dist::globalType(shape, part.getElementType(), placement);
}

Value loadWhole(OpBuilder &builder, Location location, const StepInput &input, int64_t microbatches) {
  StringAttr slot = builder.getStringAttr(input.slot());
  if (!input.perMicrobatch)
    return sched::LoadOp::create(builder, location, input.part, slot, IntegerAttr());
  ValueBuilder b(builder, location);
  RankedTensorType stacked = stackOf(input.part, 1);
  SmallVector<Value> parts;
  for (int64_t microbatch = 0; microbatch < microbatches; ++microbatch) {
    Value part =
        sched::LoadOp::create(builder, location, input.part, slot, builder.getI64IntegerAttr(microbatch));
    parts.push_back(b.create<ReshapeOp>(stacked, part));
  }
  return parts.size() == 1 ? parts.front()
                           : b.create<ConcatenateOp>(stackOf(input.part, microbatches), parts, 0).getResult();
}

Value neutralElement(ValueBuilder &b, StringRef combiner, RankedTensorType type) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  auto integer = dyn_cast<IntegerType>(type.getElementType());
  // -0.0 + x is x, where 0.0 + -0.0 would be 0.0.
  if (combiner == "sum" || combiner == "tree")
    return b.constant(type, integer ? 0.0 : -0.0);
  if (!integer)
    return b.constant(type, combiner == "max" ? -infinity : infinity);
  APInt bound = combiner == "max" ? APInt::getSignedMinValue(integer.getWidth())
                                  : APInt::getSignedMaxValue(integer.getWidth());
  return b.create<ConstantOp>(cast<ElementsAttr>(Attribute(DenseElementsAttr::get(type, bound))));
}

Value combineCarried(OpBuilder &builder, StringRef combiner, Value before, Value value) {
  ValueBuilder b(builder, value.getLoc());
  if (combiner == "max")
    return b.maximum(before, value);
  if (combiner == "tree")
    return b.binary<JoinOp>(before, value);
  return combiner == "min" ? b.minimum(before, value) : b.add(before, value);
}

bool accumulates(StringRef combiner, int64_t microbatches) {
  return (combiner == "tree" ? TreeFolds::blockSizeOf(microbatches) : microbatches) > 1;
}

} // namespace weft
