//===- NnDialect.cpp - Registration and what all ops share -----------------===//
#include "dialects/nn/NnDialect.h"
#include "dialects/nn/NnOps.h"

#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace weft::nn;

#include "dialects/nn/NnDialect.cpp.inc"
#include "dialects/nn/NnInterfaces.cpp.inc"

void NnDialect::initialize() {
  registerActivationOps();
  registerAttentionOps();
  registerContractionOps();
  registerElementwiseOps();
  registerIndexingOps();
  registerLossOps();
  registerNormOps();
  registerOptimizerOps();
  registerProgramOps();
  registerShapeOps();
}

Operation *NnDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type, Location location) {
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements || elements.getType() != type)
    return nullptr;
  return ConstantOp::create(builder, location, elements);
}
