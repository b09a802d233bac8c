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

/// Which orders are tried.
enum class OffsetOrders {
  LargestFirst, ///< one: for the many buffers of an action, where each order is felt in a large model
  All,          ///< while the peak is above the lower bound
};

/// Offsets such that buffers whose lifetimes overlap do not. Each in turn gets the lowest gap that fits:
/// largest first (the greedy-by-size method of arXiv:2001.03288), then by begin, longest first, and by bytes
/// times length; the lowest peak counts. If all have one
/// size, the peak is the lower bound: they come in the order in which they begin, so what hinders one lives
/// when it begins, and of as many places as live at once one is free. For unequal sizes the peak may be above
/// it; reports show both.
OffsetPlan assignOffsets(llvm::ArrayRef<Lifetime> lifetimes, OffsetOrders orders);

} // namespace weft

#endif // WEFT_PASSES_MEMORY_OFFSETASSIGNMENT_H
