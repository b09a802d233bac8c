//===- ReadPieces.h - Saved pieces, to where they are wanted --------------===//
//
// A piece is read from its file, held against its checksum, and what a slice shares with it is copied to its
// place. Internal to runtime/checkpoint.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_CHECKPOINT_READPIECES_H
#define WEFT_RUNTIME_CHECKPOINT_READPIECES_H

#include "runtime/checkpoint/Checkpoint.h"

namespace weft::checkpoint {

/// A piece, and the slice that wants some of it.
struct PieceRead {
  const TensorRecord *tensor = nullptr;
  const PieceRecord *piece = nullptr;
  const SliceRequest *wanted = nullptr;

  int64_t bytes() const { return piece->end - piece->begin; }
};

/// Reads pieces of the checkpoint in `folder` with this many threads, the largest first. A
/// failure stops them all.
absl::Status readPieces(FileSystem &files, const std::string &folder, std::vector<PieceRead> reads,
                        int threads);

/// DataLoss: `file` holds other bytes of the piece than were saved.
absl::Status damagedPiece(const std::string &file, const TensorRecord &tensor, const PieceRecord &piece,
                          uint64_t found);

} // namespace weft::checkpoint

#endif // WEFT_RUNTIME_CHECKPOINT_READPIECES_H
