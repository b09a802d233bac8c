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

/// Offsets such that buffers whose lifetimes overlap do not.
OffsetPlan assignOffsets(llvm::ArrayRef<Lifetime> lifetimes);

} // namespace weft

#endif // WEFT_PASSES_MEMORY_OFFSETASSIGNMENT_H
