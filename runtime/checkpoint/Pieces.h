//===- Pieces.h - A tensor as boxes that lie in files ---------------------===//
//
// On N ranks each writes its part of a tensor: a box (offset and size per dimension) of the global shape.
// Together the boxes of a sound tensor cover it exactly once. A scalar has empty offset and size.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_CHECKPOINT_PIECES_H
#define WEFT_RUNTIME_CHECKPOINT_PIECES_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace weft::checkpoint {

/// A box of a global tensor: elements [offset, offset + size) in each dimension.
struct Slice {
  std::vector<int64_t> offset;
  std::vector<int64_t> size;

  bool operator==(const Slice &) const = default;
  /// The number of elements; the sizes are known not to overflow.
  int64_t elements() const;
  /// First element and size of each dimension: [0+4, 8+16]. Also of slices that no tensor can have.
  std::string str() const;
};

/// The slice that is the whole tensor.
Slice wholeSlice(const std::vector<int64_t> &shape);

/// Empty when the slices cover the shape exactly once, else what is wrong. The element count of `shape` is
/// known not to overflow.
std::string checkCover(const std::vector<int64_t> &shape, const std::vector<Slice> &slices);

/// Empty when the slice lies inside the shape, else what is wrong.
std::string checkInside(const std::vector<int64_t> &shape, const Slice &slice);

/// What two slices of one tensor share; its sizes are 0 where they share nothing.
Slice intersection(const Slice &a, const Slice &b);

/// Whether `fine` is `coarse` with dimensions cut into several: a row-major reshape that moves no element
/// across a dimension of `coarse`.
bool isCutOf(const std::vector<int64_t> &fine, const std::vector<int64_t> &coarse);

/// Where a box begins in a dense row-major tensor of this shape.
struct BoxPlace {
  std::vector<int64_t> shape;
  std::vector<int64_t> offset;
};

/// Walks a box through two tensors at once, in row-major order: each run of bytes lies together in both.
class BoxWalk {
public:
  struct Run {
    int64_t from = 0; ///< Byte in the one tensor.
    int64_t to = 0;   ///< Byte in the other.
    int64_t bytes = 0;
  };
  /// The box lies inside both shapes.
  BoxWalk(int64_t elementBytes, std::vector<int64_t> size, const BoxPlace &from, const BoxPlace &to);
  /// The next run, `from` ascending; false after the last.
  bool next(Run &run);
  /// Goes on, never back, to the first run that ends behind byte `from` of the one tensor.
  void seek(int64_t from);

private:
  std::vector<int64_t> size, fromStride, toStride, at;
  size_t inner; ///< Dimensions before this one are counted through; the others are the run.
  Run first, current;
  bool finished = false;
};

/// Copies a box of `size` elements per dimension from one dense tensor into another.
void copyBox(int64_t elementBytes, const std::vector<int64_t> &size, const std::byte *from,
             const BoxPlace &fromPlace, std::byte *to, const BoxPlace &toPlace);

} // namespace weft::checkpoint

#endif // WEFT_RUNTIME_CHECKPOINT_PIECES_H
