//===- FactorPlacement.h - How one factor of an op is split -------------------===//
//
// Most ops on parts are the same ops. Those with indices into a factor, and those that take valid elements
// alone, must know which part of it they have: here is what to ask.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_DIALECTS_NN_FACTORPLACEMENT_H
#define WEFT_DIALECTS_NN_FACTORPLACEMENT_H

#include "dialects/dist/Placement.h"
#include "dialects/nn/NnSupport.h"

#include <optional>

namespace weft::nn {

struct FactorPlacement {
  dist::MeshAttr mesh;
  dist::Split split;
  int64_t size; ///< whole

  bool isEven() const { return dist::dividesEvenly(mesh, size, split); }
};

/// The placement of a factor, as a dimension says that is this factor alone; the same in all of them. Nothing
/// where the factor is whole, or the op has no placements.
std::optional<FactorPlacement> factorPlacement(mlir::Operation *op, const ShardingRule &rule, int factor);

/// The factor of which an op takes a part's valid elements alone while not all parts are full of them: it is
/// to be given their number as its last operand.
std::optional<FactorPlacement> paddedFactor(mlir::Operation *op, const ShardingRule &rule);

} // namespace weft::nn

#endif // WEFT_DIALECTS_NN_FACTORPLACEMENT_H
