//===- UpdatePlan.h - Which pipeline rank computes what of an update ------------===//
//
// An update is computed where its operands are: a parameter's on the ranks that hold it, what depends on all
// stages (the norm, the clipping coefficient) on every rank. What one rank has and another needs, a few
// scalars, is exchanged: all of it at once, or in as many rounds as it depends on itself.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_PASSES_PIPELINE_UPDATEPLAN_H
#define WEFT_PASSES_PIPELINE_UPDATEPLAN_H

#include "dialects/nn/NnDialect.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/StringMap.h"

#include <vector>

namespace weft {

using RankSet = llvm::SmallBitVector;
/// The ranks that hold a parameter; none for a state, which is kept where it is computed.
using HoldersOf = llvm::function_ref<RankSet(llvm::StringRef)>;

class UpdatePlan {
public:
  /// `given`: for each argument of update, the ranks that have it.
  UpdatePlan(nn::StepOp step, llvm::ArrayRef<RankSet> given, HoldersOf holders, int ranks);

  /// Exchanges, one after another; none where every rank has all that it needs.
  int rounds() const { return static_cast<int>(exchanges.size()); }
  /// What exchange `round` gives to every rank, in the order of the block.
  llvm::ArrayRef<mlir::Value> exchanged(int round) const { return exchanges[round]; }
  /// The rank that gives it, which has it.
  int giverOf(mlir::Value value) const { return ranksOf(value).find_first(); }
  /// The ranks that compute a value, or were given it.
  const RankSet &ranksOf(mlir::Value value) const { return places.find(value)->second; }
  bool writes(int rank, nn::WriteOp write) const { return ranksOfWrite.find(write)->second.test(rank); }
  /// The round behind which a rank sees a value that another one gives it.
  int roundOf(mlir::Value value) const { return depths.lookup(value); }

  /// The ops of a rank, in the order of the block: for each round what is computed before its exchange, then
  /// what comes behind the last one. Ops without operands (constants, reads) are wherever they are needed.
  std::vector<std::vector<mlir::Operation *>> opsOf(int rank) const;

private:
  void visitAll(llvm::ArrayRef<RankSet> given, HoldersOf holders);
  RankSet ranksOf(mlir::Operation &op, HoldersOf holders) const;
  void visit(mlir::Operation &op, HoldersOf holders);
  void needEverywhere(mlir::Value value, const RankSet &at);
  int depthAt(mlir::Value value, const RankSet &at) const;

  mlir::Block &block;
  RankSet all;
  llvm::DenseMap<mlir::Value, RankSet> places;
  llvm::DenseMap<mlir::Value, int> depths; ///< how many exchanges come before it
  llvm::DenseMap<mlir::Operation *, RankSet> ranksOfWrite;
  llvm::StringMap<RankSet> keepers; ///< of states that are written
  std::vector<llvm::SmallVector<mlir::Value>> exchanges;
};

} // namespace weft

#endif // WEFT_PASSES_PIPELINE_UPDATEPLAN_H
