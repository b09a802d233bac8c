//===- Messages.cpp - Checks of what ranks of a pipeline tell each other ------===//
//
// A message is one rank's part of a value that other ranks of the pipeline do not have: its type may say
// everything but something about the pipeline's axes.
//
//===----------------------------------------------------------------------===//
#include "dialects/dist/DistDialect.h"
#include "dialects/dist/Placement.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace weft::dist;

namespace {

LogicalResult checkNames(Operation *op, ArrayAttr names) {
  llvm::StringSet<> known;
  for (StringRef name : names.getAsValueRange<StringAttr>())
    if (!known.insert(name).second)
      return op->emitOpError() << "names the axis \"" << name << "\" twice";
  if (names.empty())
    return op->emitOpError() << "expects at least one axis";
  return success();
}

LogicalResult checkPeer(Operation *op, uint64_t peer, int64_t ranks) {
  if (peer < static_cast<uint64_t>(ranks))
    return success();
  return op->emitOpError() << "expects a rank of the pipeline below " << ranks << ", got "
                           << static_cast<int64_t>(peer);
}

/// The axes of the pipeline, over which `type` is neither split nor pending.
FailureOr<Axes> checkValue(Operation *op, Type type, ArrayAttr names) {
  auto tensor = cast<RankedTensorType>(type);
  if (!isLocal(tensor))
    return op->emitOpError() << "expects the part of a rank (#dist.local), got " << describe(tensor);
  if (failed(checkNames(op, names)))
    return failure();
  Placement placement = placementOf(tensor);
  Axes axes;
  for (StringRef name : names.getAsValueRange<StringAttr>())
    axes.push_back(placement.mesh.indexOf(name));
  ArrayRef<int64_t> pipeline = placement.mesh.axesOf("pipeline");
  if (ArrayRef(axes) != pipeline)
    return op->emitOpError() << "expects the axes of the role pipeline, "
                             << describe(placement.mesh, pipeline) << ", got " << names;
  for (int64_t axis : axes)
    if (!placement.isReplicatedOver(axis))
      return op->emitOpError() << "expects a value that says nothing of " << describe(placement.mesh, axes)
                               << ", its placement is " << describe(placement);
  return axes;
}

LogicalResult checkMessage(Operation *op, Type type, ArrayAttr names, uint64_t peer) {
  FailureOr<Axes> axes = checkValue(op, type, names);
  return failed(axes) ? failure() : checkPeer(op, peer, placementOf(type).mesh.sizeOf(*axes));
}

} // namespace

LogicalResult SendOp::verify() { return checkMessage(*this, getOperand().getType(), getAxes(), getTo()); }

LogicalResult ReceiveOp::verify() { return checkMessage(*this, getType(), getAxes(), getFrom()); }

LogicalResult SendWaitOp::verify() { return checkNames(*this, getAxes()); }

LogicalResult ReceiveWaitOp::verify() { return checkNames(*this, getAxes()); }

LogicalResult TermOp::verify() {
  auto from = cast<RankedTensorType>(getOperand().getType()), to = cast<RankedTensorType>(getType());
  FailureOr<Axes> axes = checkValue(*this, from, getAxes());
  if (failed(axes))
    return failure();
  Placement placement = placementOf(from);
  placement.sum = unite(placement.sum, *axes);
  RankedTensorType wanted = localType(wholeShape(from), from.getElementType(), placement);
  if (to == wanted)
    return success();
  return emitOpError() << "gives " << describe(wanted) << "; its type says " << describe(to);
}
