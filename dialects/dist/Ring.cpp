//===- Ring.cpp - Checks of the loop around a ring -----------------------------===//
//
// The types that the regions of a ring must have follow from those of its operands and results; the ops in
// them are then held against their own rules, which is what catches a value on the wrong side of the ring.
//
//===----------------------------------------------------------------------===//
#include "dialects/dist/DistDialect.h"
#include "dialects/dist/Placement.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace weft::dist;

namespace {
RankedTensorType tensorOf(Value value) { return cast<RankedTensorType>(value.getType()); }

bool touches(const Placement &placement, ArrayRef<int64_t> axes) {
  return llvm::any_of(axes, [&](int64_t axis) { return !placement.isReplicatedOver(axis); });
}

/// A value of the ring, for messages: `travelling operand 3`.
std::string portText(StringRef what, Value value) {
  if (auto result = dyn_cast<OpResult>(value))
    return (what + " result " + Twine(result.getResultNumber())).str();
  return what.str();
}

class RingChecker {
public:
  explicit RingChecker(RingOp ring) : ring(ring) {}

  LogicalResult run() {
    if (failed(readAxes()))
      return failure();
    for (auto [index, value] : llvm::enumerate(ring.getStays()))
      if (failed(checkStaying(value, static_cast<unsigned>(index))))
        return failure();
    for (auto [index, value] : llvm::enumerate(ring.getTravels()))
      if (failed(
              checkTravelling("travelling operand " + std::to_string(ring.getStays().size() + index), value)))
        return failure();
    for (Value value : ring.getMerged())
      if (failed(checkMerged(value)))
        return failure();
    for (Value value : ring.getHome())
      if (failed(checkTravelling(portText("home", value), value)))
        return failure();
    return success();
  }

private:
  LogicalResult readAxes() {
    if (ring.getTravels().empty() || ring.getMerged().empty())
      return ring.emitOpError() << "expects something that travels and something that is merged";
    for (Value value : llvm::concat<Value>(llvm::to_vector(ring->getOperands()),
                                           llvm::to_vector_of<Value>(ring->getResults()))) {
      if (!isLocal(value.getType()))
        return ring.emitOpError() << "expects parts of a rank (#dist.local), got "
                                  << describe(tensorOf(value));
      MeshAttr own = placementOf(value).mesh;
      if (mesh && own != mesh)
        return ring.emitOpError() << "expects one mesh";
      mesh = own;
    }
    for (StringRef name : ring.getAxes().getAsValueRange<StringAttr>()) {
      int64_t axis = mesh.indexOf(name);
      if (axis < 0)
        return ring.emitOpError() << "names an axis \"" << name << "\" that the mesh does not have";
      if (llvm::is_contained(axes, axis))
        return ring.emitOpError() << "names the axis \"" << name << "\" twice";
      axes.push_back(axis);
    }
    if (axes.empty())
      return ring.emitOpError() << "expects at least one axis";
    return success();
  }

  /// Split over the whole ring in one dimension, in parts of one size.
  LogicalResult checkSplit(const std::string &port, Value value) {
    Placement placement = placementOf(value);
    RankedTensorType type = tensorOf(value);
    int64_t dimension = dimensionOver(type, axes);
    if (dimension < 0)
      return ring.emitOpError()
             << "goes around " << describe(mesh, axes) << ", but " << port << " is at " << describe(placement)
             << ": all axes of the ring, and no others, split one dimension of it. Reshard "
                "it first";
    int64_t size = wholeShape(type)[dimension];
    if (!dividesEvenly(mesh, size, placement.splits[dimension]))
      return ring.emitOpError() << "expects blocks of one size: dimension " << dimension << " of " << port
                                << " is " << size << ", over " << mesh.sizeOf(axes) << " ranks";
    return success();
  }

  LogicalResult checkStaying(Value value, unsigned index) {
    std::string port = "staying operand " + std::to_string(index);
    Placement placement = placementOf(value);
    for (int64_t axis : axes)
      if (llvm::is_contained(placement.allPending(), axis))
        return ring.emitOpError() << "takes " << port << ", which is pending over " << describe(mesh, {axis})
                                  << ": " << describe(placement) << ". Reshard it first";
    return touches(placement, axes) ? checkSplit(port, value) : success();
  }

  LogicalResult checkTravelling(const std::string &port, Value value) {
    Placement placement = placementOf(value);
    if (!touches(placement, axes))
      return ring.emitOpError() << "has " << port << " replicated over " << describe(mesh, axes) << " ("
                                << describe(placement) << "): every rank would meet all of it "
                                << mesh.sizeOf(axes) << " times. Split it over the ring";
    return checkSplit(port, value);
  }

  LogicalResult checkMerged(Value value) {
    std::string port = portText("merged", value);
    Placement placement = placementOf(value);
    if (llvm::all_of(axes, [&](int64_t axis) { return llvm::is_contained(placement.sum, axis); }))
      return success();
    if (!touches(placement, axes))
      return ring.emitOpError()
             << "has " << port << " replicated over " << describe(mesh, axes) << " (" << describe(placement)
             << "), but each rank merges a value of its own: it is split over the ring, or "
                "a pending sum over it";
    return checkSplit(port, value);
  }

  RingOp ring;
  MeshAttr mesh;
  Axes axes;
};

LogicalResult checkTypes(RingOp ring, const Twine &what, TypeRange found, ArrayRef<RankedTensorType> wanted) {
  if (found.size() != wanted.size())
    return ring.emitOpError() << "expects " << wanted.size() << " " << what << "s, got " << found.size();
  for (auto [index, type, expected] : llvm::enumerate(found, wanted)) {
    if (type == expected)
      continue;
    InFlightDiagnostic error = ring.emitOpError() << "expects " << what << " " << index << " of type "
                                                  << describe(expected) << ", got ";
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      return error << describe(tensor);
    return error << type;
  }
  return success();
}
} // namespace

LogicalResult RingOp::verify() { return RingChecker(*this).run(); }

LogicalResult RingOp::verifyRegions() {
  SmallVector<int64_t, 4> axes = axisIndices();
  SmallVector<RankedTensorType> arguments, values;
  for (Value value : getStays())
    arguments.push_back(tensorOf(value));
  for (Value value : getTravels())
    arguments.push_back(blockType(tensorOf(value), axes));
  for (Value value : getMerged())
    values.push_back(tensorOf(value));
  for (Value value : getHome())
    values.push_back(homeBlockType(tensorOf(value), axes));
  for (Region *region : {&getFirst(), &getNext()}) {
    StringRef name = region == &getFirst() ? "first" : "next";
    if (region == &getNext())
      llvm::append_range(arguments, values);
    if (failed(checkTypes(*this, "region '" + name + "' argument", region->getArgumentTypes(), arguments)))
      return failure();
    auto yield = dyn_cast<RingYieldOp>(region->front().getTerminator());
    if (!yield)
      return emitOpError() << "expects region '" << name << "' to end with dist.yield";
    if (failed(checkTypes(*this, "region '" + name + "' yielded value", yield.getOperandTypes(), values)))
      return failure();
  }
  return success();
}

SmallVector<int64_t, 4> RingOp::axisIndices() {
  MeshAttr mesh = placementOf(getTravels().front()).mesh;
  SmallVector<int64_t, 4> axes;
  for (StringRef name : getAxes().getAsValueRange<StringAttr>())
    axes.push_back(mesh.indexOf(name));
  return axes;
}

int64_t RingOp::ranks() { return placementOf(getTravels().front()).mesh.sizeOf(axisIndices()); }
