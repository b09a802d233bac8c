//===- ReadPieces.cpp - Saved pieces, to where they are wanted ------------===//
//
// Pieces are read and hashed stretch by stretch while these are in the cache: straight into the caller's
// memory where a piece is all that is wanted, else through a buffer of one stretch, of which each thread has
// one. Threads take pieces, so they share nothing but the place that says which is next.
//
//===----------------------------------------------------------------------===//
#include "runtime/checkpoint/ReadPieces.h"
#include "runtime/checkpoint/Checksum.h"
#include "runtime/checkpoint/FileOperations.h"

#include "kernels/common/ThreadPool.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <tuple>

namespace weft::checkpoint {
namespace {

/// Copies of a piece that is read stretch by stretch what a slice needs of it.
class PieceCopier {
public:
  PieceCopier(const TensorRecord &tensor, const PieceRecord &piece, const Slice &slice,
              const std::vector<int64_t> &memory, std::byte *into)
      : walk(byteSize(tensor.type.dtype), intersection(piece.slice, slice).size,
             placeIn(piece.slice, piece.slice.size, intersection(piece.slice, slice)),
             placeIn(slice, memory, intersection(piece.slice, slice))),
        into(into), more(walk.next(run)) {}

  /// Takes the bytes of the piece from `begin` on; `part`s come in order.
  void take(int64_t begin, std::span<const std::byte> part) {
    const int64_t end = begin + static_cast<int64_t>(part.size());
    while (more && run.from < end) {
      const int64_t bytes = std::min(run.bytes, end - run.from);
      std::memcpy(into + run.to, part.data() + (run.from - begin), static_cast<size_t>(bytes));
      if (bytes == run.bytes) {
        more = walk.next(run);
        continue;
      }
      run = {run.from + bytes, run.to + bytes, run.bytes - bytes};
    }
  }

private:
  static BoxPlace placeIn(const Slice &holder, const std::vector<int64_t> &shape, const Slice &box) {
    BoxPlace place{shape, {}};
    for (size_t d = 0; d < shape.size(); ++d)
      place.offset.push_back(box.offset[d] - holder.offset[d]);
    return place;
  }

  BoxWalk walk;
  std::byte *into;
  BoxWalk::Run run;
  bool more;
};

absl::Status readPiece(FileSystem &files, const std::string &folder, const PieceRead &read,
                       std::vector<std::byte> &buffer) {
  const PieceRecord &piece = *read.piece;
  const SliceRequest &wanted = *read.wanted;
  const std::string path = absl::StrCat(folder, "/", piece.file);
  absl::StatusOr<InputFile> file = InputFile::open(files, path);
  if (!file.ok())
    return file.status();
  const size_t bytes = static_cast<size_t>(read.bytes());
  // A piece that is all that is wanted goes straight to its place.
  const bool straight = piece.slice == wanted.slice && wanted.memory == wanted.slice.size;
  if (!straight)
    buffer.resize(kChecksumStretch);
  PieceCopier copier(*read.tensor, piece, wanted.slice, wanted.memory, wanted.into.data());
  Checksum checksum;
  for (size_t at = 0; at < bytes; at += kChecksumStretch) {
    const size_t length = std::min(kChecksumStretch, bytes - at);
    const std::span<std::byte> part =
        straight ? wanted.into.subspan(at, length) : std::span(buffer).first(length);
    if (absl::Status status = file->read(piece.begin + static_cast<int64_t>(at), part.data(), part.size());
        !status.ok())
      return status;
    checksum.update(part.data(), part.size());
    if (!straight)
      copier.take(static_cast<int64_t>(at), part);
  }
  return checksum.value() == piece.checksum ? absl::OkStatus()
                                            : damagedPiece(path, *read.tensor, piece, checksum.value());
}

} // namespace

absl::Status damagedPiece(const std::string &file, const TensorRecord &tensor, const PieceRecord &piece,
                          uint64_t found) {
  return absl::DataLossError(
      absl::StrCat(file, ": tensor '", tensor.name, "' is damaged: its checksum is ", checksumText(found),
                   ", ", checksumText(piece.checksum),
                   " was saved. Use another checkpoint (move this folder away to go on from "
                   "the one before it)."));
}

absl::Status readPieces(FileSystem &files, const std::string &folder, std::vector<PieceRead> reads,
                        int threads) {
  std::sort(reads.begin(), reads.end(), [](const PieceRead &a, const PieceRead &b) {
    return std::tuple(b.bytes(), a.piece->file, a.piece->begin) <
           std::tuple(a.bytes(), b.piece->file, b.piece->begin);
  });
  const auto most = static_cast<int64_t>(std::max<size_t>(reads.size(), 1));
  const int workers = static_cast<int>(std::clamp<int64_t>(threads, 1, most));
  std::vector<std::vector<std::byte>> buffers(static_cast<size_t>(workers));
  std::vector<absl::Status> failures(reads.size());
  std::atomic<bool> hasFailed{false};
  ThreadPool pool(workers);
  pool.forEachTile(static_cast<int64_t>(reads.size()), [&](int64_t index, int worker) {
    const auto at = static_cast<size_t>(index);
    if (!hasFailed)
      failures[at] = readPiece(files, folder, reads[at], buffers[static_cast<size_t>(worker)]);
    if (!failures[at].ok())
      hasFailed = true;
  });
  absl::Status first;
  for (const absl::Status &failure : failures)
    first.Update(failure);
  return first;
}

} // namespace weft::checkpoint
