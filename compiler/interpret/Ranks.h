//===- Ranks.h - A value on a mesh ------------------------------------------===//
//
// In the local view a value is one tensor per rank, in the global view (and without a mesh) there is one rank
// that holds everything: the interpreter knows values on a mesh alone. Ranks that hold the same tensor share
// it. What lies behind the valid elements of a part is poison (NaN, the lowest integer), so that a use of it
// shows.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_INTERPRET_RANKS_H
#define WEFT_COMPILER_INTERPRET_RANKS_H

#include "compiler/interpret/Evaluator.h"
#include "dialects/dist/Placement.h"
#include "runtime/executable/Mesh.h"

namespace weft::interpret {

/// What each rank holds.
using MeshValue = llvm::SmallVector<Shared>;

class Ranks {
public:
  /// One rank, unless the program under `op` is in the local view, or of a pipeline rank: then those of its
  /// mesh.
  static Ranks of(mlir::Operation *op);
  explicit Ranks(Mesh axes) : axes(std::move(axes)) {}

  const Mesh &mesh() const { return axes; }
  int64_t count() const { return axes.ranks(); }
  /// The same on every rank.
  MeshValue everywhere(const Shared &value) const { return MeshValue(count(), value); }

  /// The ranks along the role `pipeline`, and which of them `rank` is.
  int64_t pipelineRanks() const { return axes.sizeOf(axes.axesOf("pipeline")); }
  int64_t pipelineRankOf(int64_t rank) const { return axes.indexOf(rank, axes.axesOf("pipeline")); }
  bool isPipelineAxis(llvm::StringRef name) const;
  /// Whether the type splits a value over pipeline axes, or leaves it pending there.
  bool dependsOnPipelineRank(mlir::Type type) const;
  /// What a pipeline rank holds, on every rank: in each of the others copies, place by place.
  MeshValue copiesOf(int64_t pipelineRank, const MeshValue &value) const;

  /// The whole index of each element of `rank`'s part of a dimension of `size` elements; -1 is padding.
  std::vector<int64_t> positions(int64_t rank, int64_t size, const dist::Split &split) const;

  /// The parts of a whole tensor as `type` places it. Where the value is pending, each element is with one of
  /// the ranks, which differs from element to element, and the others have what is neutral.
  MeshValue split(const Tensor &whole, mlir::Type type) const;
  /// The whole tensor, pending reductions taken. Fails where ranks that hold the same part hold different
  /// bits.
  absl::StatusOr<Tensor> assemble(const MeshValue &value, mlir::Type type) const;

private:
  Mesh axes;
};

/// The type of a variable or of a slot with its placement, which `fuse` puts aside.
mlir::RankedTensorType placedType(mlir::Operation *op);

/// The axes as the runtime counts them.
std::vector<uint32_t> axisIndices(llvm::ArrayRef<int64_t> axes);
/// What padding holds: NaN, and the lowest integer (false).
double poisonReal();
int64_t lowestInteger(DType dtype);

} // namespace weft::interpret

#endif // WEFT_COMPILER_INTERPRET_RANKS_H
