//===- Placement.h - Placements as values that passes compute with -----------===//
//
// The encodings of DistBase.td, taken apart. Axes are indices into the mesh. Whether a type is in the global
// or the local view, its placement and the whole tensor's shape read the same.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_DIALECTS_DIST_PLACEMENT_H
#define WEFT_DIALECTS_DIST_PLACEMENT_H

#include "dialects/dist/DistDialect.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/SmallVector.h"

#include <array>

namespace weft::dist {

using Axes = llvm::SmallVector<int64_t, 4>;

/// The attribute of a module that says its mesh.
inline constexpr llvm::StringLiteral kMeshAttribute = "dist.mesh";
/// What stays of a placement when encodings have been erased: of a variable, and of an input.
inline constexpr llvm::StringLiteral kPlacementAttribute = "dist.placement";

// The seeds of placements, and what a plan says of the whole program.
inline constexpr llvm::StringLiteral kZeroAttribute = "dist.zero";       ///< module: i64, the ZeRO level
inline constexpr llvm::StringLiteral kUseAttribute = "dist.use";         ///< parameter: at its reads
inline constexpr llvm::StringLiteral kStorageAttribute = "dist.storage"; ///< parameter, state: between steps
inline constexpr llvm::StringLiteral kInputsAttribute = "dist.inputs";   ///< step: of microbatch's inputs
inline constexpr llvm::StringLiteral kAtAttribute = "dist.at";           ///< boundary, function argument
inline constexpr llvm::StringLiteral kReasonAttribute =
    "dist.reason"; ///< with `explain`: why an op is split so

/// How one dimension is split: axes major to minor.
struct Split {
  Axes axes;
  bool zigzag = false;
  bool operator==(const Split &) const = default;
};

inline constexpr std::array<PendingKind, 4> kPendingKinds = {PendingKind::sum, PendingKind::max,
                                                             PendingKind::lse, PendingKind::tree};

struct Placement {
  MeshAttr mesh; ///< null: the value has no placement (a program without a mesh)
  llvm::SmallVector<Split, 0> splits;
  Axes sum, max, lse, tree; ///< pending, ascending

  explicit operator bool() const { return static_cast<bool>(mesh); }
  bool operator==(const Placement &) const = default;
  Axes &pending(PendingKind kind) {
    return kind == PendingKind::sum   ? sum
           : kind == PendingKind::max ? max
           : kind == PendingKind::lse ? lse
                                      : tree;
  }
  const Axes &pending(PendingKind kind) const { return const_cast<Placement *>(this)->pending(kind); }
  bool isPending() const { return !sum.empty() || !max.empty() || !lse.empty() || !tree.empty(); }
  /// Pending, and nothing but plain sums.
  bool isPendingSum() const { return !sum.empty() && max.empty() && lse.empty() && tree.empty(); }
  /// All axes over which it is pending, in whichever way.
  Axes allPending() const;
  /// As if every pending reduction were taken.
  void clearPending() { sum.clear(), max.clear(), lse.clear(), tree.clear(); }
  bool splitsOver(int64_t axis) const;
  /// Neither split nor pending over the axis.
  bool isReplicatedOver(int64_t axis) const;
  /// Neither split nor pending at all.
  bool isReplicated() const;
};

/// Replicated over the whole mesh.
Placement replicated(MeshAttr mesh, int64_t rank);

Placement placementOf(mlir::Type type);
inline Placement placementOf(mlir::Value value) { return placementOf(value.getType()); }
Placement placementOf(PlacementAttr attribute);
bool isLocal(mlir::Type type);
/// The whole tensor's shape.
llvm::ArrayRef<int64_t> wholeShape(mlir::RankedTensorType type);

/// The placement as an attribute. With `emitError` it may be one that is not right, and is then null.
PlacementAttr attributeOf(const Placement &placement,
                          llvm::function_ref<mlir::InFlightDiagnostic()> emitError = {});
/// The type of a tensor of this whole shape in the global view, and in the local one.
mlir::RankedTensorType globalType(llvm::ArrayRef<int64_t> whole, mlir::Type element,
                                  const Placement &placement);
mlir::RankedTensorType localType(llvm::ArrayRef<int64_t> whole, mlir::Type element,
                                 const Placement &placement);
/// `type` with another placement, in the view that it is in.
mlir::RankedTensorType withPlacement(mlir::RankedTensorType type, const Placement &placement);
/// `type` without any.
mlir::RankedTensorType withoutPlacement(mlir::RankedTensorType type);

/// The dimension that is split over exactly these axes; -1 where none is.
int64_t dimensionOver(mlir::RankedTensorType type, llvm::ArrayRef<int64_t> axes);
/// What a step of a ring over `axes` sees of what travels: a rank's block of the dimension that they split,
/// as if it were whole. `type` is local.
mlir::RankedTensorType blockType(mlir::RankedTensorType type, llvm::ArrayRef<int64_t> axes);
/// Likewise of what comes home: the sum over the ring is still to be taken.
mlir::RankedTensorType homeBlockType(mlir::RankedTensorType type, llvm::ArrayRef<int64_t> axes);

/// What a rank's memory has of a dimension: nested ceiling division.
int64_t partSize(MeshAttr mesh, int64_t size, const Split &split);
llvm::SmallVector<int64_t> partShape(llvm::ArrayRef<int64_t> whole, const Placement &placement);
/// Whether every rank's part has the same number of valid elements.
bool dividesEvenly(MeshAttr mesh, int64_t size, const Split &split);

/// Sorted, each once.
Axes unite(llvm::ArrayRef<int64_t> left, llvm::ArrayRef<int64_t> right);
Axes without(llvm::ArrayRef<int64_t> axes, llvm::ArrayRef<int64_t> removed);

/// As people read them: `[t0, t1]`, and `[d0] [] [] sum [t0]`.
std::string describe(MeshAttr mesh, llvm::ArrayRef<int64_t> axes);
std::string describe(const Placement &placement);
/// `tensor<8xf32> at [t0]`, and in the local view `tensor<4xf32>, the part of 8 at [t0]`.
std::string describe(mlir::RankedTensorType type);

} // namespace weft::dist

#endif // WEFT_DIALECTS_DIST_PLACEMENT_H
