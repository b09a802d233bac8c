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

/// Copies a slice's dense bytes into the dense bytes of the whole tensor.
void copyIntoWhole(const std::vector<int64_t> &shape, int64_t elementBytes, const Slice &slice,
                   const std::byte *from, std::byte *whole);

} // namespace weft::checkpoint

#endif // WEFT_RUNTIME_CHECKPOINT_PIECES_H
