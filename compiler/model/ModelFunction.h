//===- ModelFunction.h - A model given as IR ----------------------------------===//
//
// A file may hold the function @model instead of a whole job: what a family's builder writes, with the
// parameters beside it. The programs of a job are then built around it as around a family: the loss,
// evaluation, generation, documents that share a sample, positions of context ranks, and the seed of dropout
// are the run's. The function says nothing of the mesh either; its parameters say what may be split
// (nn.tensor_dimension).
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_MODEL_MODELFUNCTION_H
#define WEFT_COMPILER_MODEL_MODELFUNCTION_H

#include "compiler/model/Blocks.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <map>

namespace weft {

inline constexpr llvm::StringLiteral kModelFunction = "model";
/// Of @model, f64: the cap of cap tanh(x / cap) on logits; absent: none.
inline constexpr llvm::StringLiteral kLogitSoftcap = "nn.logit_softcap";

/// What a model gives to its loss.
struct ModelOutput {
  mlir::Value states; ///< f32 [batch, sequence, hidden]
  mlir::Value head;   ///< f32 [vocabulary, hidden]: logits are its products with states
  double logitSoftcap = 0.0;
};

class ModelFunction {
public:
  /// Takes @model out of the module of a file. Failure, with a diagnostic in the file, where it is not the
  /// function of a model on sequences of this length: see docs/models.md.
  static mlir::FailureOr<ModelFunction> take(mlir::ModuleOp module, int64_t sequenceLength);

  /// Makes it ready for so many samples; before build() with as many.
  mlir::LogicalResult prepare(int64_t batch);
  int64_t vocabulary() const;
  mlir::Location location() { return function->getLoc(); }

  /// Writes it at the builder's insertion point. `tokens` are i32 [batch, sequence]; without
  /// sequence.sampleIds nothing is dropped.
  ModelOutput build(ModelBuilder &b, const SequenceContext &sequence, mlir::Value tokens);

private:
  explicit ModelFunction(mlir::func::FuncOp function) : function(function) {}

  mlir::OwningOpRef<mlir::func::FuncOp> function;
  std::map<int64_t, mlir::OwningOpRef<mlir::func::FuncOp>> byBatch;
};

} // namespace weft

#endif // WEFT_COMPILER_MODEL_MODELFUNCTION_H
