//===- OffsetAssignment.h - Offsets for buffers with lifetimes ---------------===//
#ifndef WEFT_PASSES_MEMORY_OFFSETASSIGNMENT_H
#define WEFT_PASSES_MEMORY_OFFSETASSIGNMENT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace weft {

/// What kernels may rely on, in bytes.
inline constexpr int64_t kPlaceAlignment = 64;
inline int64_t alignPlace(int64_t bytes) {
  return (bytes + kPlaceAlignment - 1) / kPlaceAlignment * kPlaceAlignment;
}

/// A buffer that is live from command `begin` to command `end`, both included. `bytes` is a multiple of the
/// alignment.
struct Lifetime {
  int64_t bytes;
  int64_t begin, end;
  bool overlaps(const Lifetime &other) const { return begin <= other.end && other.begin <= end; }
};

struct OffsetPlan {
  llvm::SmallVector<int64_t> offsets; ///< one per lifetime
  int64_t peakBytes = 0;
  int64_t lowerBound = 0;  ///< the most bytes that are live at once: no plan needs less
  int64_t peakCommand = 0; ///< where that is
};

/// The search for a lower peak ends where it is above the bound by no more than the bound divided by this.
inline constexpr int64_t kCloseEnough = 256;

/// Offsets such that buffers whose lifetimes overlap do not. Each in turn gets the lowest gap that fits, in
/// five orders: largest first (the greedy-by-size method of arXiv:2001.03288), by begin, longest first, by
/// bytes times length, and by size among those that live about as long; then a local search goes on from
/// each, the lowest peak first. If all have one size, the peak is the lower bound: they come in the order in
/// which they begin, so what hinders one lives when it begins, and of as many places as live at once one is
/// free. The plan is the same on every machine.
OffsetPlan assignOffsets(llvm::ArrayRef<Lifetime> lifetimes);

} // namespace weft

#endif // WEFT_PASSES_MEMORY_OFFSETASSIGNMENT_H
