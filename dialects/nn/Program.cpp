//===- Program.cpp - Symbols, the step, layer boundaries --------------------===//
#include "dialects/dist/Placement.h"
#include "dialects/nn/NnOps.h"
#include "dialects/nn/ValueBuilder.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace weft::nn;
namespace dist = weft::dist;

#include "dialects/nn/NnProgramEnums.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/nn/NnProgram.cpp.inc"

void NnDialect::registerProgramOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/nn/NnProgram.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// parameter, state, cache, read, write
//===----------------------------------------------------------------------===//

namespace {
/// The checks that parameters, states and caches share.
template <typename OpTy> LogicalResult verifyVariableType(OpTy op) {
  Type type = op.getType();
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape())
    return op.emitOpError() << "expects a static ranked tensor type, got " << type;
  if (!isKernelElement(tensor.getElementType()))
    return op.emitOpError() << "expects an element type i1, i32, i64, bf16, f16, f32 or f64, got " << type;
  if (!isAddressable(tensor))
    return op.emitOpError() << "expects at most 16 dimensions and 2^48 bytes, got " << type;
  if (dist::Placement placement = dist::placementOf(type); placement.isPending())
    return op.emitOpError() << "is stored at " << dist::describe(placement)
                            << ": a variable is whole or split between steps, nothing of it is pending";
  return success();
}

/// Those that parameters and states share.
template <typename OpTy> LogicalResult verifyVariable(OpTy op, bool floats) {
  if (failed(verifyVariableType(op)))
    return failure();
  if (!(op.getDeviation().convertToDouble() >= 0.0))
    return op.emitOpError() << "expects a deviation of at least 0";
  if (floats && !isa<FloatType>(cast<RankedTensorType>(op.getType()).getElementType()))
    return op.emitOpError() << "expects a float element type, got " << op.getType();
  return success();
}

/// Caches are what functions leave to each other; a step neither reads nor writes one.
LogicalResult verifyPlaceOfUse(Operation *op, bool ofCache) {
  Operation *parent = op->getParentOp();
  auto step = dyn_cast<StepOp>(parent);
  bool isWrite = isa<WriteOp>(op), inFunction = isa<FunctionOpInterface>(parent);
  if (ofCache ? step || isa<ModuleOp>(parent)
              : isWrite && (inFunction || isa<ModuleOp>(parent) ||
                            (step && op->getParentRegion() != &step.getUpdate())))
    return op->emitOpError() << (ofCache ? "of a cache may stand only in a function"
                                         : "may stand only in the update of an nn.step");
  if (!isWrite || !inFunction)
    return success();
  for (Operation *before = op->getPrevNode(); before; before = before->getPrevNode())
    if (auto other = dyn_cast<WriteOp>(before);
        other && other.getVariable() == cast<WriteOp>(op).getVariable())
      return op->emitOpError() << "writes " << other.getVariableAttr() << " a second time";
  return success();
}

LogicalResult verifyUse(Operation *op, FlatSymbolRefAttr name, Type type, SymbolTableCollection &symbols) {
  Operation *variable = symbols.lookupNearestSymbolFrom(op, name);
  if (!isVariable(variable))
    return op->emitOpError() << "expects a parameter, state or cache named " << name << ", there is none";
  if (failed(verifyPlaceOfUse(op, isa<CacheOp>(variable))))
    return failure();
  Type wanted = variable->getAttrOfType<TypeAttr>("type").getValue();
  if (wanted == type)
    return success();
  dist::Placement storage = dist::placementOf(wanted), given = dist::placementOf(type);
  auto tensor = cast<RankedTensorType>(type);
  bool placementAlone = storage && given && dist::isLocal(wanted) == dist::isLocal(type) &&
                        tensor.getElementType() == cast<RankedTensorType>(wanted).getElementType() &&
                        dist::wholeShape(tensor) == dist::wholeShape(cast<RankedTensorType>(wanted));
  if (!placementAlone)
    return op->emitOpError() << "expects type " << wanted << " of " << name << ", got " << type;
  return op->emitOpError() << (isa<WriteOp>(op) ? "writes " : "reads ") << name << " at "
                           << dist::describe(given) << ", it is stored at " << dist::describe(storage)
                           << (isa<WriteOp>(op) ? ". Reshard the value to that first"
                                                : ". Read it there and reshard what was read");
}
} // namespace

/// The axes of the role `data` that have more than one rank, in the order of the mesh.
static dist::Axes dataAxes(dist::MeshAttr mesh) {
  dist::Axes axes;
  for (int64_t axis : mesh.axesOf("data"))
    if (mesh.getSizes()[axis] > 1)
      axes.push_back(axis);
  llvm::sort(axes);
  return axes;
}

LogicalResult ParameterOp::verify() { return verifyVariable(*this, /*floats=*/true); }
LogicalResult StateOp::verify() { return verifyVariable(*this, /*floats=*/false); }
LogicalResult CacheOp::verify() { return verifyVariableType(*this); }

LogicalResult ReadOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyUse(*this, getVariableAttr(), getResult().getType(), symbols);
}

LogicalResult WriteOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyUse(*this, getVariableAttr(), getValue().getType(), symbols);
}

namespace weft::nn {
bool isVariable(Operation *op) { return isa_and_nonnull<ParameterOp, StateOp, CacheOp>(op); }

LogicalResult verifyWritesOnce(Block &block) {
  llvm::DenseSet<Attribute> written;
  for (auto write : block.getOps<WriteOp>())
    if (!written.insert(write.getVariableAttr()).second)
      return write.emitOpError() << "writes " << write.getVariableAttr() << " a second time";
  return success();
}
} // namespace weft::nn

//===----------------------------------------------------------------------===//
// boundary
//===----------------------------------------------------------------------===//

void BoundaryOp::buildVjp(VjpContext &context, ArrayRef<Value> cotangents, MutableArrayRef<Value> out) {
  if (!cotangents[0] || !context.needsCotangent(0))
    return;
  ValueBuilder b(context.builder, getLoc());
  Value marked =
      b.create<BoundaryOp>(cotangents[0].getType(), getLayerAttr(), cotangents[0], b.builder.getUnitAttr());
  out[0] = b.cast(marked, context.cotangentType(0).getElementType());
}
ShardingRule BoundaryOp::shardingRule() { return makeElementwiseRule(*this, {true}); }
int64_t BoundaryOp::flops() { return 0; }

//===----------------------------------------------------------------------===//
// leaf, join
//===----------------------------------------------------------------------===//

LogicalResult LeafOp::verify() {
  if (dist::withoutPlacement(tensorType(getOperand())) != dist::withoutPlacement(tensorType(getResult())))
    return emitOpError() << "is an identity, got " << getOperand().getType() << " -> " << getType();
  dist::Placement placement = dist::placementOf(getOperand());
  if (!placement)
    return success();
  dist::Axes data = dataAxes(placement.mesh);
  if (placement.allPending() == data && placement.sum == data)
    return success();
  return emitOpError() << "expects a value that is a pending sum over the data axes "
                       << dist::describe(placement.mesh, data) << " alone, one leaf on each data rank, got "
                       << dist::describe(placement);
}
ShardingRule LeafOp::shardingRule() {
  ShardingRule rule = makeElementwiseRule(*this, {true});
  rule.makesLeaves = true;
  return rule;
}
int64_t LeafOp::flops() { return 0; }

SmallVector<Value> JoinOp::decompose(OpBuilder &builder) {
  return {ValueBuilder(builder, getLoc()).add(getFirst(), getSecond())};
}
ShardingRule JoinOp::shardingRule() {
  ShardingRule rule = makeElementwiseRule(*this, {false, false});
  rule.jointlyLinear = {0, 1};
  rule.joinsSubtrees = true;
  return rule;
}
int64_t JoinOp::flops() { return elementCount(getResult()); }

//===----------------------------------------------------------------------===//
// step
//===----------------------------------------------------------------------===//

namespace {
LogicalResult verifyUnique(Operation *op, ArrayAttr names) {
  llvm::StringSet<> seen;
  for (Attribute name : names)
    if (!seen.insert(cast<StringAttr>(name).getValue()).second)
      return op->emitOpError() << "names " << name << " twice";
  return success();
}

LogicalResult verifyNames(Operation *op, ArrayAttr names, size_t values) {
  if (names.size() != values)
    return op->emitOpError() << "expects one name per value, got " << names.size() << " names for " << values
                             << " values";
  return verifyUnique(op, names);
}

/// The type of one of the parts that `whole` stacks along its first dimension; null if a mesh splits that.
RankedTensorType partOfStack(RankedTensorType whole) {
  dist::Placement placement = dist::placementOf(whole);
  if (!placement)
    return RankedTensorType::get(whole.getShape().drop_front(), whole.getElementType());
  if (!placement.splits.front().axes.empty())
    return {};
  placement.splits.erase(placement.splits.begin());
  ArrayRef<int64_t> shape = dist::wholeShape(whole).drop_front();
  return dist::isLocal(whole) ? dist::localType(shape, whole.getElementType(), placement)
                              : dist::globalType(shape, whole.getElementType(), placement);
}

/// Checks the types of `arguments` against `wanted`, in order.
LogicalResult verifyArguments(StepOp step, StringRef region, ValueRange arguments, TypeRange wanted) {
  if (arguments.size() != wanted.size())
    return step.emitOpError() << "expects " << wanted.size() << " arguments of " << region << ", got "
                              << arguments.size();
  for (auto [index, argument, type] : llvm::enumerate(arguments, wanted))
    if (argument.getType() != type)
      return step.emitOpError() << "expects argument " << index << " of " << region << " to be "
                                << dist::describe(cast<RankedTensorType>(type)) << ", got "
                                << dist::describe(tensorType(argument));
  return success();
}

/// What leaves a step on a mesh is whole on every rank.
LogicalResult verifyOutputs(StepOp step, YieldOp yield) {
  for (auto [name, value] :
       llvm::zip_equal(yield.getNames().value_or(ArrayAttr::get(step.getContext(), {})), yield.getValues()))
    if (dist::Placement placement = dist::placementOf(value); placement && !placement.isReplicated())
      return step.emitOpError() << "yields " << name << " at " << dist::describe(placement)
                                << ": each rank would give another value. Reshard it to be replicated first";
  return success();
}

LogicalResult verifyInputs(StepOp step) {
  for (auto [name, argument] : llvm::zip_equal(step.getInputNames(), step.getPrepare().getArguments()))
    if (dist::Placement placement = dist::placementOf(argument); placement.isPending())
      return step.emitOpError() << "has the input " << name << " at " << dist::describe(placement)
                                << ": inputs are whole or split, nothing of them is pending";
  return success();
}
} // namespace

LogicalResult StepOp::verifyRegions() {
  for (Region *region : getRegions())
    for (BlockArgument argument : region->getArguments())
      if (!isa<RankedTensorType>(argument.getType()))
        return emitOpError() << "expects arguments that are tensors, got " << argument.getType();
  if (failed(verifyWritesOnce(getUpdate().front())))
    return failure();
  auto prepareYield = dyn_cast<YieldOp>(getPrepare().front().getTerminator());
  auto carry = dyn_cast<CarryOp>(getMicrobatch().front().getTerminator());
  auto updateYield = dyn_cast<YieldOp>(getUpdate().front().getTerminator());
  if (!prepareYield || prepareYield.getNames())
    return emitOpError() << "expects prepare to end in nn.yield without names";
  if (!carry)
    return emitOpError() << "expects microbatch to end in nn.carry";
  if (!updateYield)
    return emitOpError() << "expects update to end in nn.yield";
  if (failed(verifyNames(updateYield, updateYield.getNames().value_or(ArrayAttr::get(getContext(), {})),
                         updateYield.getValues().size())))
    return failure();
  if (failed(verifyOutputs(*this, updateYield)))
    return failure();
  auto microbatches = static_cast<int64_t>(getMicrobatches());
  if (microbatches < 1)
    return emitOpError() << "expects at least one microbatch, got " << microbatches;
  size_t inputs = getInputNames().size();
  if (failed(verifyUnique(*this, getInputNames())))
    return failure();
  auto prepareArguments = getPrepare().getArguments();
  if (prepareArguments.size() != inputs)
    return emitOpError() << "expects one argument of prepare per input (" << inputs << "), got "
                         << prepareArguments.size();
  if (failed(verifyInputs(*this)))
    return failure();
  if (getMicrobatch().getNumArguments() < inputs)
    return emitOpError() << "expects at least " << inputs << " arguments of microbatch";
  SmallVector<Type> wanted;
  for (size_t index = 0; index < inputs; ++index) {
    auto whole = cast<RankedTensorType>(prepareArguments[index].getType());
    Type part = getMicrobatch().getArgument(index).getType();
    bool perStep = part == whole;
    bool stacked = whole.getRank() > 0 && whole.getDimSize(0) == microbatches && part == partOfStack(whole);
    if (!perStep && !stacked)
      return emitOpError() << "expects input " << getInputNames()[index] << " of microbatch to be one of the "
                           << microbatches << " parts of " << dist::describe(whole) << " or all of it, got "
                           << dist::describe(cast<RankedTensorType>(part));
    wanted.push_back(part);
  }
  llvm::append_range(wanted, prepareYield.getValues().getTypes());
  if (failed(verifyArguments(*this, "microbatch", getMicrobatch().getArguments(), wanted)))
    return failure();
  SmallVector<Type> updateWanted(carry.getValues().getTypes());
  llvm::append_range(updateWanted, prepareYield.getValues().getTypes());
  return verifyArguments(*this, "update", getUpdate().getArguments(), updateWanted);
}

LogicalResult CarryOp::verify() {
  if (failed(verifyNames(*this, getNames(), getValues().size())))
    return failure();
  if (getCombiners().size() != getValues().size())
    return emitOpError() << "expects one combiner per value, got " << getCombiners().size();
  for (Attribute combiner : getCombiners())
    if (!llvm::is_contained({"sum", "max", "min", "tree"}, cast<StringAttr>(combiner).getValue()))
      return emitOpError() << "expects combiners sum, max, min or tree, got " << combiner;
  for (auto [value, combiner] : llvm::zip_equal(getValues(), getCombiners().getAsValueRange<StringAttr>())) {
    if (tensorType(value).getElementType().isInteger(1))
      return emitOpError() << "folds floats and integers, got " << value.getType()
                           << "; nn.cast makes it an integer";
    dist::Placement placement = dist::placementOf(value);
    if ((!placement.sum.empty() && combiner != "sum") || (!placement.max.empty() && combiner != "max") ||
        (!placement.tree.empty() && combiner != "tree") || !placement.lse.empty())
      return emitOpError() << "folds with " << combiner
                           << " a value that is pending otherwise: " << dist::describe(placement)
                           << ". Reshard it first";
    if (combiner == "tree" && !isa<FloatType>(tensorType(value).getElementType()))
      return emitOpError() << "folds " << value.getType()
                           << " by tree, which says how floats are rounded; integers are exact by sum";
    if (combiner == "tree" && placement && placement.tree != dataAxes(placement.mesh))
      return emitOpError() << "folds by tree a value that is no leaf of every data rank: it is "
                           << dist::describe(placement) << " instead of a pending tree over "
                           << dist::describe(placement.mesh, dataAxes(placement.mesh))
                           << ". nn.leaf makes one of a pending sum, whose reduction waits for update";
  }
  return success();
}
