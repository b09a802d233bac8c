//===- AxisBundles.h - Axes that go one way, as one axis ----------------------===//
//
// A mesh has an axis per prime factor: 512 ranks are nine of them, and a search over nine axes is lost. In
// most pairs of placements they go together: side by side in one dimension, or all pending, before and after.
// Such axes are a bundle: one axis of a smaller mesh, whose size is their product. Nested ceiling division
// over axes one after another leaves parts of the same size as one over their product, so sizes and bytes of
// whole bundles are those of their axes.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_PASSES_ANALYSIS_AXISBUNDLES_H
#define WEFT_PASSES_ANALYSIS_AXISBUNDLES_H

#include "dialects/dist/Placement.h"

namespace weft {

class AxisBundles {
public:
  /// The bundles of two placements on one mesh. Axes over which both are replicated are in none.
  AxisBundles(const dist::Placement &from, const dist::Placement &to);

  /// One of the two placements, on the mesh of bundles.
  dist::Placement bundled(const dist::Placement &placement) const;
  /// The axes of bundles, each bundle major to minor.
  dist::Axes axesOf(llvm::ArrayRef<int64_t> bundles) const;

private:
  llvm::SmallVector<dist::Axes> members;
  dist::MeshAttr mesh; ///< of bundles
};

/// The axes that split a dimension, or are pending, in one of the two.
dist::Axes involvedAxes(const dist::Placement &from, const dist::Placement &to);

} // namespace weft

#endif // WEFT_PASSES_ANALYSIS_AXISBUNDLES_H
