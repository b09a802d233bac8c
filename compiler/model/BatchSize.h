//===- BatchSize.h - A function for another number of samples -----------------===//
//
// A model given as IR is written for some number of samples, and its run computes as many as its mesh and
// micro batch say. Which dimensions are samples follows from the ops themselves: their sharding rules say
// which dimensions of operands and results are one, and the arguments say where it begins.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_MODEL_BATCHSIZE_H
#define WEFT_COMPILER_MODEL_BATCHSIZE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace weft {

/// Retypes a verified function of one block of nn ops. The leading dimension of each argument that is no
/// scalar is the batch; all other sizes stay. Failure, with a diagnostic at the op, where the batch is folded
/// with another dimension into one, meets a dimension of a parameter, or has values of its own in a constant.
mlir::LogicalResult resizeBatch(mlir::func::FuncOp function, int64_t batch);

} // namespace weft

#endif // WEFT_COMPILER_MODEL_BATCHSIZE_H
