//===- NnOps.h - The ops of the nn dialect ----------------------------------===//
#ifndef WEFT_DIALECTS_NN_NNOPS_H
#define WEFT_DIALECTS_NN_NNOPS_H

#include "dialects/dist/DistDialect.h"
#include "dialects/nn/NnSupport.h"
#include "dialects/nn/PlacementRules.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/nn/NnDialect.h.inc"
#include "dialects/nn/NnInterfaces.h.inc"

#include "dialects/nn/NnActivationEnums.h.inc"
#include "dialects/nn/NnContractionEnums.h.inc"
#include "dialects/nn/NnElementwiseEnums.h.inc"
#include "dialects/nn/NnProgramEnums.h.inc"

#define GET_OP_CLASSES
#include "dialects/nn/NnActivation.h.inc"
#define GET_OP_CLASSES
#include "dialects/nn/NnAttention.h.inc"
#define GET_OP_CLASSES
#include "dialects/nn/NnContraction.h.inc"
#define GET_OP_CLASSES
#include "dialects/nn/NnElementwise.h.inc"
#define GET_OP_CLASSES
#include "dialects/nn/NnIndexing.h.inc"
#define GET_OP_CLASSES
#include "dialects/nn/NnLoss.h.inc"
#define GET_OP_CLASSES
#include "dialects/nn/NnNorm.h.inc"
#define GET_OP_CLASSES
#include "dialects/nn/NnOptimizer.h.inc"
#define GET_OP_CLASSES
#include "dialects/nn/NnProgram.h.inc"
#define GET_OP_CLASSES
#include "dialects/nn/NnShape.h.inc"

namespace weft::nn {
/// A parameter, state or cache: what nn.read and nn.write name. False for null.
bool isVariable(mlir::Operation *op);

/// Refuses a second write to one variable in a block: the update of a step, or an action.
mlir::LogicalResult verifyWritesOnce(mlir::Block &block);
} // namespace weft::nn

#endif // WEFT_DIALECTS_NN_NNOPS_H
