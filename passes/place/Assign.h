//===- Assign.h - Placements into types, reshards where they change ------------===//
//
// Walks a block in program order. Each op runs with its factors split as decided; an operand that lives
// elsewhere is resharded, from whichever version of the value is nearest, and later uses share the result.
// A pending sum goes on through ops that are linear in it as long as that moves no more bytes later.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_PASSES_PLACE_ASSIGN_H
#define WEFT_PASSES_PLACE_ASSIGN_H

#include "passes/place/Propagate.h"

#include "mlir/IR/SymbolTable.h"

namespace weft {

class BlockAssigner {
public:
  /// With `gatherPerModule`, what was resharded of a parameter is forgotten at each layer boundary: it is
  /// gathered anew where it is used next, and freed in between.
  BlockAssigner(mlir::Block &block, const mlir::SymbolTable &variablesByName, const Propagator &propagator,
                dist::MeshAttr mesh, ReshardPaths &paths, bool gatherPerModule)
      : block(block), symbols(variablesByName), propagator(propagator), mesh(mesh), paths(paths),
        gatherPerModule(gatherPerModule) {}

  /// Types all ops but the terminator. Arguments and variables have their placements already.
  mlir::LogicalResult run();

  /// `value` at `target`; what must be built for that stands before `user`.
  mlir::Value at(mlir::Value value, const dist::Placement &target, mlir::Operation *user);

private:
  mlir::LogicalResult assign(mlir::Operation *op);
  void assignByRule(mlir::Operation *op, const nn::ShardingRule &rule);
  /// Splits and passed sums with which the op runs where its operands are, if it should.
  bool staysWithOperands(mlir::Operation *op, const nn::ShardingRule &rule, nn::FactorSplits &splits) const;
  bool passesPending(mlir::Operation *op, const nn::ShardingRule &rule, const nn::FactorSplits &splits,
                     unsigned operand, const dist::Axes &passed) const;
  void forgetGathered();

  mlir::Block &block;
  const mlir::SymbolTable &symbols;
  const Propagator &propagator;
  dist::MeshAttr mesh;
  ReshardPaths &paths;
  bool gatherPerModule;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Value>> versions; ///< of a value, besides itself
  llvm::SetVector<mlir::Value> variables;                               ///< reads, and casts of reads
};

} // namespace weft

#endif // WEFT_PASSES_PLACE_ASSIGN_H
