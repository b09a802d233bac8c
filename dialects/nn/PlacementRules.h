//===- PlacementRules.h - An op's placements, from its sharding rule -----------===//
//
// The algebra of placements: what an op asks of its operands and gives to its results when its factors are
// split over axes, and how pending sums pass through it. Verifier, placement and partitioning share it, in
// the global view and in the local one.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_DIALECTS_NN_PLACEMENTRULES_H
#define WEFT_DIALECTS_NN_PLACEMENTRULES_H

#include "dialects/dist/Placement.h"
#include "dialects/nn/NnSupport.h"

#include <optional>

namespace weft::nn {

/// How each factor of a rule is split.
using FactorSplits = llvm::SmallVector<dist::Split>;

/// Shares the axes of a dimension out among its factors, major to minor: each but the last must be split into
/// single elements before the next gets any. Nothing if the axes do not fit the factors so.
std::optional<llvm::SmallVector<dist::Split>> shareOut(const ShardingRule &rule, dist::MeshAttr mesh,
                                                       llvm::ArrayRef<int> factors, const dist::Split &split);

/// The placement of a value whose dimensions have these factors; nothing is pending.
dist::Placement placementFor(dist::MeshAttr mesh, llvm::ArrayRef<DimensionFactors> dimensions,
                             const FactorSplits &splits);

/// The placement of result `result`: its factors' splits, pending over the axes of the factors that it lacks,
/// and over `passed`, the pending sums that the op passes on.
dist::Placement resultPlacement(const ShardingRule &rule, dist::MeshAttr mesh, const FactorSplits &splits,
                                unsigned result, llvm::ArrayRef<int64_t> passedSum,
                                llvm::ArrayRef<int64_t> passedMax);

/// What must lie behind the valid elements of a part where an op reduces over the factor; nothing where no
/// result lacks it, where the op takes valid elements alone, or where indices say which part an element is of
/// and only the last part is padded.
std::optional<double> neutralElement(const ShardingRule &rule, int factor, const dist::Split &split);

/// Holds the placements of an op's operands and results against its rule. An op of a program without a mesh
/// has none.
mlir::LogicalResult verifyPlacements(mlir::Operation *op);

} // namespace weft::nn

#endif // WEFT_DIALECTS_NN_PLACEMENTRULES_H
