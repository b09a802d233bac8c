//===- ProgramAttributes.cpp - What programs say of their mesh -----------------===//
//
// Attributes named dist.* on modules, variables, steps and arguments: each is known by name, so that a seed
// written by hand is never ignored for its spelling. A module's mesh is that of every placement in it, and
// every placement fits its type: builtin types do not check that themselves.
//
//===----------------------------------------------------------------------===//
#include "dialects/dist/Placement.h"

#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace weft::dist;

namespace {

constexpr llvm::StringLiteral kKnownAttributes[] = {kMeshAttribute,   kZeroAttribute,     kUseAttribute,
                                                    kAtAttribute,     kInputsAttribute,   kStorageAttribute,
                                                    kReasonAttribute, kPlacementAttribute};

LogicalResult verifyName(Operation *op, NamedAttribute attribute) {
  if (llvm::is_contained(kKnownAttributes, attribute.getName().getValue()))
    return success();
  InFlightDiagnostic error = op->emitOpError() << "has the attribute " << attribute.getName()
                                               << ", which means nothing. Known are ";
  llvm::interleaveComma(kKnownAttributes, error);
  return error;
}

/// Every placement in the types and attributes of an op is on the mesh, and fits its type.
class PlacementWalk {
public:
  explicit PlacementWalk(MeshAttr mesh) {
    walker.addWalk([this, mesh](MeshAttr other) {
      if (other == mesh)
        return WalkResult::advance();
      emitError() << "has a placement on another mesh than the module";
      return WalkResult::interrupt();
    });
    walker.addWalk([this](RankedTensorType type) {
      auto encoding = dyn_cast_or_null<VerifiableTensorEncoding>(type.getEncoding());
      if (!encoding || succeeded(encoding.verifyEncoding(type.getShape(), type.getElementType(), [this] {
            return emitError() << "has a type that ";
          })))
        return WalkResult::advance();
      return WalkResult::interrupt();
    });
  }

  LogicalResult visit(Operation *op) {
    at = op;
    bool stops =
        walker.walk(op->getAttrDictionary()).wasInterrupted() ||
        llvm::any_of(op->getResultTypes(), [&](Type type) { return walker.walk(type).wasInterrupted(); });
    for (Region &region : op->getRegions())
      for (Block &block : region)
        stops = stops || llvm::any_of(block.getArgumentTypes(),
                                      [&](Type type) { return walker.walk(type).wasInterrupted(); });
    return failure(stops);
  }

private:
  InFlightDiagnostic emitError() { return at->emitOpError(); }

  AttrTypeWalker walker;
  Operation *at = nullptr;
};

LogicalResult verifyMesh(Operation *op, Attribute attribute) {
  auto mesh = dyn_cast<MeshAttr>(attribute);
  if (!mesh || !isa<ModuleOp>(op))
    return op->emitOpError() << "has " << kMeshAttribute << " = " << attribute
                             << "; a module says its mesh so, with #dist.mesh";
  PlacementWalk walk(mesh);
  WalkResult result = op->walk<WalkOrder::PreOrder>([&](Operation *inner) {
    return failed(walk.visit(inner)) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
} // namespace

LogicalResult DistDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  if (failed(verifyName(op, attribute)))
    return failure();
  return attribute.getName() == kMeshAttribute ? verifyMesh(op, attribute.getValue()) : success();
}

LogicalResult DistDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned,
                                                    NamedAttribute attribute) {
  return verifyName(op, attribute);
}
