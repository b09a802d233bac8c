//===- StepSlots.h - What crosses between a step's actions ----------------------===//
//
// Inputs, stacks of them, and sums over microbatches: the same whether a step has one action for each
// microbatch or many.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_PASSES_PIPELINE_STEPSLOTS_H
#define WEFT_PASSES_PIPELINE_STEPSLOTS_H

#include "dialects/nn/NnDialect.h"
#include "passes/pipeline/ProgramBuilder.h"

namespace weft {

struct StepInput {
  llvm::StringRef name;
  mlir::RankedTensorType part; ///< of a microbatch, if it is per microbatch
  bool perMicrobatch = false;

  std::string slot() const { return ("input/" + name).str(); }
};

llvm::SmallVector<StepInput> inputsOf(nn::StepOp step);

/// For each value that prepare yields, the variables that it is made of.
llvm::SmallVector<llvm::SmallVector<llvm::StringRef>> preparedVariables(nn::StepOp step);

/// What prepare sees of an input: all microbatches stacked, a concatenation of one load for each. At the
/// builder's place.
mlir::Value loadWhole(mlir::OpBuilder &builder, mlir::Location location, const StepInput &input,
                      int64_t microbatches);

/// The neutral element of a combiner of nn.carry, in the shape and type of `like`.
mlir::Value neutralElement(nn::ValueBuilder &b, llvm::StringRef combiner, mlir::RankedTensorType type);

/// What was carried so far, and the next microbatch's value. At the builder's place.
mlir::Value combineCarried(mlir::OpBuilder &builder, llvm::StringRef combiner, mlir::Value before,
                           mlir::Value value);

/// Whether a microbatch adds to what those before it left in the slot.
bool accumulates(llvm::StringRef combiner, int64_t microbatches);

} // namespace weft

#endif // WEFT_PASSES_PIPELINE_STEPSLOTS_H
