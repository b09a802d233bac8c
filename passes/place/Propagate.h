//===- Propagate.h - Which axes split which factors of a block's ops -----------===//
//
// From a few seeds to a decision for every op. Seeds come in levels; those of a level spread, through the
// sharding rules and in both directions, as far as they meet no conflict, before the next level begins, and
// what is decided stays; a later seed may split it further. Of a split that comes along, an op takes as much
// as stands before the first axis that another of its factors has. All ops of a round look at the same state
// and decide at once, so neither order nor names matter. A conflict (two factors of one op want one axis)
// waits until nothing else moves; then the conflicts that cost least to settle are settled, each in favor of
// the factor whose reshards move the fewest bytes, and the spreading goes on.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_PASSES_PLACE_PROPAGATE_H
#define WEFT_PASSES_PLACE_PROPAGATE_H

#include "dialects/nn/NnDialect.h"
#include "dialects/nn/PlacementRules.h"
#include "passes/analysis/ReshardPath.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

#include <vector>

namespace weft {

/// Levels of seeds: the earlier, the stronger.
enum class SeedLevel : uint8_t { Parameter, Input, Boundary };

class Propagator {
public:
  Propagator(mlir::Block &block, dist::MeshAttr mesh, ReshardPaths &paths);

  /// Wants `value` split like this, because of `source` (for people). Nothing else may split it.
  void seed(SeedLevel level, mlir::Value value, const dist::Placement &placement, std::string source);
  /// Decides all factors of `op`: those of its first operand as `placement` splits it, all others whole.
  /// Nothing spreads from here; what `op` takes and gives is resharded. False if no part of the op is so.
  bool fix(mlir::Operation *op, const dist::Placement &placement, std::string source);
  void run();

  const nn::ShardingRule &rule(mlir::Operation *op) const { return rules.find(op)->second; }
  /// How the factors of an op are split; every undecided factor is whole.
  const nn::FactorSplits &splits(mlir::Operation *op) const { return decided.find(op)->second.splits; }
  /// How a value would be split by the wish of its neighbors, nothing pending.
  dist::Placement wish(mlir::Value value) const;
  /// Which seeds split the op's factors, for people: `[d0] from input tokens, [t0] from boundary 1 (a
  /// conflict, settled for 4,096 bytes)`.
  std::string reason(mlir::Operation *op) const;

private:
  struct Decision {
    nn::FactorSplits splits;
    llvm::SmallVector<bool> isDecided;
    llvm::SmallVector<int> seeds;           ///< per factor: which one decided
    llvm::SmallVector<double> settledBytes; ///< per factor: what settling a conflict cost, or -1
    bool isFixed = false;
  };
  struct Marks {
    llvm::SmallVector<dist::Split> splits;
    llvm::SmallVector<int> seeds; ///< per dimension
    bool closed = false;
  };
  struct Candidate {
    int factor;
    dist::Split split;
    int seed;
    double settledBytes = -1;
  };
  struct Seed {
    SeedLevel level;
    mlir::Value value;
    dist::Placement placement;
    std::string source;
  };
  struct Proposal {
    mlir::Operation *op;
    Candidate candidate;
  };

  void spread();
  std::vector<Proposal> settleCheapest();
  /// What the marks around `op` propose; those that meet no other are `free`.
  void collectCandidates(mlir::Operation *op, llvm::SmallVectorImpl<Candidate> &candidates) const;
  bool isFree(llvm::ArrayRef<Candidate> candidates, size_t index) const;
  /// Whether a factor may be split in zigzag: it divides, and is a dimension of its own wherever it is.
  bool mayZigzag(mlir::Operation *op, int factor, const dist::Split &split) const;
  void apply(llvm::ArrayRef<Proposal> proposals);
  void markAround(mlir::Operation *op);
  bool mark(mlir::Value value, size_t dimension, const dist::Split &split, int seed);
  void touch(mlir::Value value);
  double costOf(mlir::Operation *op, const Candidate &candidate) const;
  template <typename Visit> void forEachDimension(mlir::Operation *op, Visit visit) const;

  dist::MeshAttr mesh;
  ReshardPaths &paths;
  llvm::MapVector<mlir::Operation *, nn::ShardingRule> rules;
  llvm::DenseMap<mlir::Operation *, Decision> decided;
  llvm::DenseMap<mlir::Value, Marks> marks;
  std::vector<Seed> seeds;
  llvm::SetVector<mlir::Operation *> frontier;   ///< ops beside what changed in the last round
  llvm::SetVector<mlir::Operation *> conflicted; ///< ops in which candidates met
};

} // namespace weft

#endif // WEFT_PASSES_PLACE_PROPAGATE_H
