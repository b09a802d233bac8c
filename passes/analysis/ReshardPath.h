//===- ReshardPath.h - From one placement to another, at least cost ------------===//
//
// A reshard is a walk over placements; each step is one collective, or a slice that costs nothing. The
// shortest walk is found by uniform-cost search: bytes that a rank sends, then the number of steps. Bytes of
// a step are those of the ring algorithms: (n-1)/n of the larger side for a gather or scatter, twice that for
// an all-reduce (Thakur et al., "Optimization of Collective Communication Operations in MPICH", 2005).
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_PASSES_ANALYSIS_RESHARDPATH_H
#define WEFT_PASSES_ANALYSIS_RESHARDPATH_H

#include "dialects/dist/Placement.h"

#include "llvm/ADT/DenseMap.h"

#include <memory>

namespace weft {

enum class ReshardKind : uint8_t { AllGather, AllReduce, ReduceScatter, AllToAll, Slice, KeepFirst };

/// all_gather, ...
llvm::StringRef name(ReshardKind kind);

struct ReshardStep {
  ReshardKind kind;
  dist::Axes axes;       ///< the group, major to minor
  int64_t dimension = 0; ///< gathered, scattered, sliced; of an all-to-all: from where
  int64_t target = 0;    ///< of an all-to-all: to where
  dist::PendingKind pending = dist::PendingKind::sum; ///< of a reduction
  dist::Placement after;
  double bytes = 0; ///< that a rank sends
};

/// The steps from `from` to `to` for a tensor of this whole shape; empty when they are equal.
llvm::SmallVector<ReshardStep, 2> reshardPath(llvm::ArrayRef<int64_t> whole, int64_t elementBytes,
                                              const dist::Placement &from, const dist::Placement &to);

/// What these steps send, in bytes a rank.
double totalBytes(llvm::ArrayRef<ReshardStep> path);

/// Paths that are found once: layers ask for the same ones again and again.
class ReshardPaths {
public:
  /// From the placement of a type, in either view; valid as long as this object.
  llvm::ArrayRef<ReshardStep> find(mlir::RankedTensorType type, const dist::Placement &to);
  double bytes(mlir::RankedTensorType type, const dist::Placement &to) { return totalBytes(find(type, to)); }

private:
  llvm::DenseMap<std::pair<mlir::Type, mlir::Attribute>, std::unique_ptr<llvm::SmallVector<ReshardStep, 2>>>
      known;
};

} // namespace weft

#endif // WEFT_PASSES_ANALYSIS_RESHARDPATH_H
