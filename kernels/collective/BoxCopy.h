//===- BoxCopy.h - A box of one tensor into a box of another --------------===//
//
// Both tensors are seen as [outer, a, middle, b, inner] and differ in a and b alone: all that gathers, slices
// and exchanges of parts need. What lies in b and inner of one row is copied at once. Internal to
// kernels/collective.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_KERNELS_COLLECTIVE_BOXCOPY_H
#define WEFT_KERNELS_COLLECTIVE_BOXCOPY_H

#include "kernels/common/ThreadPool.h"
#include "kernels/common/Types.h"

#include <cstdint>
#include <span>
#include <vector>

namespace weft::collective {

struct BoxCopy {
  /// Where the box begins along a and b, and how large the tensor is there.
  struct Side {
    int64_t sizeA = 1, startA = 0;
    int64_t sizeB = 1, startB = 0;
  };
  int64_t outer = 1, middle = 1, innerBytes = 1;
  int64_t rowsA = 1, rowsB = 1; ///< of the box
  Side from, to;
  size_t source = 0; ///< from which of several sources

  /// A box that is all but `rows` elements of one dimension: those from `fromStart` of `source`, to those
  /// from `toStart` of `target`.
  static BoxCopy along(size_t dimension, const TensorType &source, int64_t fromStart,
                       const TensorType &target, int64_t toStart, int64_t rows);

  /// Bytes of the box at one index of outer.
  int64_t bytesPerOuter() const { return rowsA * middle * rowsB * innerBytes; }
  /// Whether a box that is one run of bytes lies where it should be already.
  bool isInPlace(const void *source, const void *target) const;
  /// Copies the indices [begin, end) of outer, unless isInPlace(). The tensors do not overlap else.
  void run(const void *source, void *target, int64_t begin, int64_t end) const;
};

/// Runs copies, each from its source, all into one target, on all threads.
void runCopies(std::span<const BoxCopy> copies, std::span<const void *const> sources, void *target,
               ThreadPool &threads);

/// Sets everything from row `valid` of a dimension on to zero.
void zeroTail(const TensorType &type, size_t dimension, int64_t valid, void *data);

} // namespace weft::collective

#endif // WEFT_KERNELS_COLLECTIVE_BOXCOPY_H
