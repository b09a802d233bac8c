//===- SequencePart.h - The positions of a sample that a rank reads -------===//
//
// Ranks of the `context` axes read the same samples, each its own positions of them: one stretch, or the two
// chunks of a zigzag. Samples come whole from the data; here is what a rank takes of them.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TRAIN_SEQUENCEPART_H
#define WEFT_RUNTIME_TRAIN_SEQUENCEPART_H

#include "runtime/executable/Mesh.h"

#include <cstdint>
#include <span>
#include <vector>

namespace weft {

class SequencePart {
public:
  /// All positions of samples of `length`.
  explicit SequencePart(int64_t length) : length(length), stretches{{0, length, length}} {}
  /// Those of a rank, of a sequence of `length` that is split so.
  SequencePart(const Mesh &mesh, int64_t rank, int64_t length, const DimensionSplit &split)
      : length(length), stretches(stretchesOf(mesh, rank, length, split)) {}

  bool isWhole() const { return stretches.size() == 1 && stretches[0].valid == length; }
  /// Copies this part of each of `samples`, which has rows of `length`; where the part is padded, zeros.
  void copy(std::span<const int32_t> samples, std::span<int32_t> part) const;

private:
  int64_t length;
  std::vector<Extent> stretches;
};

} // namespace weft

#endif // WEFT_RUNTIME_TRAIN_SEQUENCEPART_H
