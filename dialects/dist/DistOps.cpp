//===- DistOps.cpp - Checks of what changes a placement -----------------------===//
//
// Each op says what its operand's placement becomes; the verifier computes that from the operand's type and
// compares it with the declared one, so what an op claims is what it does.
//
//===----------------------------------------------------------------------===//
#include "dialects/dist/DistDialect.h"
#include "dialects/dist/Placement.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace weft::dist;

#include "dialects/dist/DistDialect.cpp.inc"
#include "dialects/dist/DistEnums.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/dist/DistTypes.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/dist/DistOps.cpp.inc"

namespace {
/// Types name their mesh, `#mesh`, instead of repeating it.
struct AliasInterface : OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;

  AliasResult getAlias(Attribute attribute, llvm::raw_ostream &stream) const override {
    if (!isa<MeshAttr>(attribute))
      return AliasResult::NoAlias;
    stream << "mesh";
    return AliasResult::FinalAlias;
  }
};
} // namespace

void DistDialect::initialize() {
  addInterfaces<AliasInterface>();
  registerAttributes();
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/dist/DistTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/dist/DistOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// reshard
//===----------------------------------------------------------------------===//

namespace {
/// The minor axes of a tree are its lower levels: they are reduced first.
LogicalResult checkTreeOrder(Operation *op, const Placement &before, ArrayRef<int64_t> reduced) {
  if (ArrayRef(before.tree).take_back(reduced.size()) == reduced)
    return success();
  return op->emitOpError() << "reduces " << describe(before.mesh, reduced) << " of a tree over "
                           << describe(before.mesh, before.tree)
                           << ": the minor axes are its lower levels and come first, in their order";
}
} // namespace

LogicalResult ReshardOp::verify() {
  auto from = cast<RankedTensorType>(getOperand().getType()), to = cast<RankedTensorType>(getType());
  Placement source = placementOf(from), target = placementOf(to);
  if (!source || !target || isLocal(from) || isLocal(to))
    return emitOpError() << "expects two global types with placements, got " << describe(from) << " and "
                         << describe(to);
  if (withoutPlacement(from) != withoutPlacement(to))
    return emitOpError() << "changes the placement alone, got " << describe(from) << " -> " << describe(to);
  if (source.mesh != target.mesh)
    return emitOpError() << "expects one mesh";
  if (Axes more = without(target.max, source.max); !more.empty())
    return emitOpError() << "cannot make a pending maximum over " << describe(source.mesh, more);
  if (Axes more = without(target.lse, source.lse); !more.empty())
    return emitOpError() << "cannot make a pending log-sum-exp over " << describe(source.mesh, more);
  if (Axes more = without(target.tree, source.tree); !more.empty())
    return emitOpError() << "cannot make a pending tree over " << describe(source.mesh, more)
                         << ": nn.leaf makes one of a pending sum";
  if (failed(checkTreeOrder(*this, source, without(source.tree, target.tree))))
    return failure();
  if (!target.lse.empty() || !source.lse.empty())
    if (!isa<FloatType>(to.getElementType()))
      return emitOpError() << "takes a log-sum-exp of " << to.getElementType() << "; only floats have one";
  if (Axes more = without(target.sum, source.sum); !more.empty() && !target.lse.empty())
    return emitOpError() << "cannot make a pending sum over " << describe(source.mesh, more)
                         << " of a value whose log-sum-exp over " << describe(source.mesh, target.lse)
                         << " stays pending: zeros would count in it";
  for (int64_t axis : without(target.sum, source.sum))
    if (!source.isReplicatedOver(axis))
      return emitOpError() << "cannot make a pending sum over " << describe(source.mesh, {axis})
                           << " of a value that is not replicated over it: " << describe(source);
  return success();
}

OpFoldResult ReshardOp::fold(FoldAdaptor) {
  return getOperand().getType() == getType() ? OpFoldResult(getOperand()) : OpFoldResult();
}

//===----------------------------------------------------------------------===//
// Local ops
//===----------------------------------------------------------------------===//

namespace {
/// What a local op knows of its operand, or a failure that has been reported.
struct LocalOperand {
  RankedTensorType type;
  Placement placement;
  Axes axes; ///< of the op
};

FailureOr<LocalOperand> readOperand(Operation *op, Value operand, ArrayAttr names) {
  LocalOperand read{cast<RankedTensorType>(operand.getType()), placementOf(operand), {}};
  if (!isLocal(read.type))
    return op->emitOpError() << "expects the part of a rank (#dist.local), got " << describe(read.type)
                             << "; in the global view dist.reshard changes placements";
  for (Attribute name : names) {
    int64_t axis = read.placement.mesh.indexOf(cast<StringAttr>(name).getValue());
    if (axis < 0)
      return op->emitOpError() << "names an axis " << name << " that the mesh does not have";
    if (llvm::is_contained(read.axes, axis))
      return op->emitOpError() << "names the axis " << name << " twice";
    read.axes.push_back(axis);
  }
  if (read.axes.empty())
    return op->emitOpError() << "expects at least one axis";
  return read;
}

LogicalResult checkDimension(Operation *op, const LocalOperand &operand, int64_t dimension) {
  if (dimension >= 0 && dimension < operand.type.getRank())
    return success();
  return op->emitOpError() << "expects a dimension below the rank (" << operand.type.getRank() << "), got "
                           << dimension;
}

RankedTensorType declaredResult(Operation *op) {
  Type type = op->getResult(0).getType();
  auto token = dyn_cast<TokenType>(type);
  return token ? token.getTensor() : cast<RankedTensorType>(type);
}

/// Several axes at once cut a dimension as one axis of their product would, only if that is even.
LogicalResult checkEven(Operation *op, const LocalOperand &operand, int64_t outer, int64_t dimension) {
  int64_t parts = operand.placement.mesh.sizeOf(operand.axes);
  if (operand.axes.size() == 1 || outer % parts == 0)
    return success();
  return op->emitOpError() << "goes over " << describe(operand.placement.mesh, operand.axes)
                           << " at once, which does not divide dimension " << dimension << " (" << outer
                           << ") evenly: one axis after another";
}

/// Takes the op's axes off the minor end of the split of `dimension`. What is left of a zigzag is one, of
/// larger chunks.
LogicalResult removeSplit(Operation *op, LocalOperand &operand, int64_t dimension) {
  if (failed(checkDimension(op, operand, dimension)))
    return failure();
  Split &split = operand.placement.splits[dimension];
  if (split.axes.size() < operand.axes.size() ||
      !llvm::equal(ArrayRef(split.axes).take_back(operand.axes.size()), operand.axes))
    return op->emitOpError() << "expects dimension " << dimension << " to be split last over "
                             << describe(operand.placement.mesh, operand.axes) << ", its placement is "
                             << describe(operand.placement);
  split.axes.truncate(split.axes.size() - operand.axes.size());
  split.zigzag &= !split.axes.empty();
  return checkEven(op, operand, partSize(operand.placement.mesh, wholeShape(operand.type)[dimension], split),
                   dimension);
}

/// Puts the op's axes at the minor end of the split of `dimension`; the value is replicated over them. A
/// dimension that was whole is cut as the declared result says: in zigzag or not.
LogicalResult addSplit(Operation *op, LocalOperand &operand, int64_t dimension) {
  if (failed(checkDimension(op, operand, dimension)))
    return failure();
  Split &split = operand.placement.splits[dimension];
  for (int64_t axis : operand.axes)
    if (!operand.placement.isReplicatedOver(axis))
      return op->emitOpError() << "expects a value that is replicated over "
                               << describe(operand.placement.mesh, operand.axes) << ", its placement is "
                               << describe(operand.placement);
  int64_t outer = partSize(operand.placement.mesh, wholeShape(operand.type)[dimension], split);
  if (Placement declared = placementOf(declaredResult(op));
      split.axes.empty() && declared && dimension < static_cast<int64_t>(declared.splits.size()))
    split.zigzag = declared.splits[dimension].zigzag;
  llvm::append_range(split.axes, operand.axes);
  return checkEven(op, operand, outer, dimension);
}

LogicalResult removePending(Operation *op, LocalOperand &operand, PendingKind kind) {
  Axes &pending = operand.placement.pending(kind);
  if (kind == PendingKind::lse && !isa<FloatType>(operand.type.getElementType()))
    return op->emitOpError() << "takes a log-sum-exp of " << operand.type.getElementType()
                             << "; only floats have one";
  for (int64_t axis : operand.axes)
    if (!llvm::is_contained(pending, axis))
      return op->emitOpError() << "expects a pending " << stringifyPendingKind(kind) << " over "
                               << describe(operand.placement.mesh, {axis}) << ", its placement is "
                               << describe(operand.placement);
  if (kind == PendingKind::tree && failed(checkTreeOrder(op, operand.placement, operand.axes)))
    return failure();
  pending = without(pending, operand.axes);
  return success();
}

/// The declared result against what the operand's placement became.
LogicalResult checkResult(Operation *op, const LocalOperand &operand, Type declared) {
  RankedTensorType wanted =
      localType(wholeShape(operand.type), operand.type.getElementType(), operand.placement);
  if (declared == wanted)
    return success();
  return op->emitOpError() << "gives " << describe(wanted) << "; its type says "
                           << describe(cast<RankedTensorType>(declared));
}

/// A collective that nobody waits for, or that is waited for twice, is none.
LogicalResult checkToken(Operation *op, const LocalOperand &operand, Type declared) {
  if (failed(checkResult(op, operand, declared)))
    return failure();
  Value token = op->getResult(0);
  auto uses = std::distance(token.use_begin(), token.use_end());
  if (uses == 1 && isa<WaitOp>(*token.user_begin()))
    return success();
  return op->emitOpError() << "expects one dist.wait for its token, it has " << uses;
}
} // namespace

LogicalResult AllGatherStartOp::verify() {
  FailureOr<LocalOperand> operand = readOperand(*this, getOperand(), getAxes());
  if (failed(operand) || failed(removeSplit(*this, *operand, static_cast<int64_t>(getDimension()))))
    return failure();
  return checkToken(*this, *operand, getToken().getType().getTensor());
}

LogicalResult AllReduceStartOp::verify() {
  FailureOr<LocalOperand> operand = readOperand(*this, getOperand(), getAxes());
  if (failed(operand) || failed(removePending(*this, *operand, getKind())))
    return failure();
  return checkToken(*this, *operand, getToken().getType().getTensor());
}

LogicalResult ReduceScatterStartOp::verify() {
  FailureOr<LocalOperand> operand = readOperand(*this, getOperand(), getAxes());
  if (failed(operand) || failed(removePending(*this, *operand, getKind())) ||
      failed(addSplit(*this, *operand, static_cast<int64_t>(getDimension()))))
    return failure();
  return checkToken(*this, *operand, getToken().getType().getTensor());
}

LogicalResult AllToAllStartOp::verify() {
  FailureOr<LocalOperand> operand = readOperand(*this, getOperand(), getAxes());
  if (failed(operand) || failed(removeSplit(*this, *operand, static_cast<int64_t>(getFrom()))) ||
      failed(addSplit(*this, *operand, static_cast<int64_t>(getTo()))))
    return failure();
  if (getFrom() == getTo())
    return emitOpError() << "moves axes from one dimension to another, got " << getFrom() << " twice";
  return checkToken(*this, *operand, getToken().getType().getTensor());
}

LogicalResult SliceOp::verify() {
  FailureOr<LocalOperand> operand = readOperand(*this, getOperand(), getAxes());
  if (failed(operand) || failed(addSplit(*this, *operand, static_cast<int64_t>(getDimension()))))
    return failure();
  return checkResult(*this, *operand, getType());
}

LogicalResult KeepFirstOp::verify() {
  FailureOr<LocalOperand> operand = readOperand(*this, getOperand(), getAxes());
  if (failed(operand))
    return failure();
  if (!operand->placement.lse.empty())
    return emitOpError() << "gives zeros, which count in the log-sum-exp that is pending: "
                         << describe(operand->placement);
  for (int64_t axis : operand->axes)
    if (!operand->placement.isReplicatedOver(axis))
      return emitOpError() << "expects a value that is replicated over "
                           << describe(operand->placement.mesh, operand->axes) << ", its placement is "
                           << describe(operand->placement);
  operand->placement.sum = unite(operand->placement.sum, operand->axes);
  return checkResult(*this, *operand, getType());
}

LogicalResult MaskOp::verify() {
  auto type = cast<RankedTensorType>(getType());
  if (!isLocal(type))
    return emitOpError() << "expects the part of a rank (#dist.local), got " << describe(type);
  auto dimension = static_cast<int64_t>(getDimension());
  if (dimension < 0 || dimension >= type.getRank())
    return emitOpError() << "expects a dimension below the rank (" << type.getRank() << "), got "
                         << dimension;
  if (placementOf(type).splits[dimension].axes.empty())
    return emitOpError() << "expects a dimension that is split, dimension " << dimension << " is whole";
  return success();
}
