//===- ReadPlan.h - Which blocks of which files a read touches ------------===//
//
// Slices of tensors become blocks of files, each once, however many slices touch it, and copies from the
// bytes of a file to places in memory. A column of a matrix is thousands of short ranges: those in one block
// are one read, and so are blocks that follow each other, up to the bytes that are read at once.
// Internal to runtime/checkpoint.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_CHECKPOINT_READPLAN_H
#define WEFT_RUNTIME_CHECKPOINT_READPLAN_H

#include "runtime/checkpoint/Checkpoint.h"

#include <span>
#include <vector>

namespace weft::checkpoint {

/// What a slice and a piece share: bytes of the piece's file, and where each goes. They share something.
class PieceCopy {
public:
  PieceCopy(const TensorRecord &tensor, const PieceRecord &piece, const SliceRequest &wanted);

  const PieceRecord &source() const { return *piece; }
  /// Where all the bytes [begin, end) of the file go together; null when they do not.
  std::byte *placeOf(int64_t begin, int64_t end) const;
  /// Copies what is wanted of these bytes of the file, the first of which is at `begin`.
  void take(int64_t begin, std::span<const std::byte> bytes) const;
  /// Calls `touch` for stretches of the file that hold something wanted, ascending; it returns up to where
  /// the caller has seen enough.
  template <typename Touch> void forEachRange(Touch touch) const {
    BoxWalk walk = runs;
    for (BoxWalk::Run run; walk.next(run);)
      walk.seek(touch(piece->begin + run.from, piece->begin + run.from + run.bytes) - piece->begin);
  }

private:
  const PieceRecord *piece;
  BoxWalk runs; ///< From bytes of the piece to bytes of the memory.
  std::byte *into;
};

/// Blocks [first, last) of a file; each begins where the one before it ends.
struct BlockRun {
  size_t file = 0; ///< Its number in the manifest.
  size_t first = 0;
  size_t last = 0;
};

/// A slice, and the tensor that it is of, which it is known to fit.
struct TensorRead {
  const TensorRecord *tensor = nullptr;
  const SliceRequest *wanted = nullptr;
};

/// Manifest and requests outlive the plan.
class ReadPlan {
public:
  /// The blocks that hold some of the slices.
  static ReadPlan ofSlices(const Manifest &manifest, const std::vector<TensorRead> &slices);
  /// Every block of a file, for nothing but its checksum.
  static ReadPlan ofFile(const Manifest &manifest, size_t file);

  const Manifest &manifest() const { return *contents; }
  /// What is read at once: blocks of up to kChecksumStretch bytes together, or one larger one. Large ones
  /// first, the others in the order of files and bytes.
  std::vector<BlockRun> runs() const;
  /// The sum of the blocks' bytes.
  int64_t bytes() const;
  /// The copies whose pieces have some of the bytes [begin, end) of a file.
  std::span<const PieceCopy> copiesOf(size_t file, int64_t begin, int64_t end) const;

private:
  struct FileReads {
    std::vector<bool> isTouched;   ///< By block.
    std::vector<PieceCopy> copies; ///< In the order of their pieces in the file.
  };
  explicit ReadPlan(const Manifest &manifest);
  void add(const PieceCopy &copy, size_t file);
  /// Marks the blocks that hold these bytes of the file; returns the end of the last one.
  int64_t touch(size_t file, int64_t begin, int64_t end);

  const Manifest *contents;
  std::vector<FileReads> reads; ///< By file.
};

} // namespace weft::checkpoint

#endif // WEFT_RUNTIME_CHECKPOINT_READPLAN_H
