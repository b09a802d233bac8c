//===- FuzzManifest.cpp - Any bytes as a manifest -------------------------===//
//
// The input is tried as it is, and with a sound first line of each version before it, so that the checksum
// does not hide the rest of the reader. Whatever parses passes the manifest's own rules; of the version that
// is written, it is written and read again unchanged. What a load of every tensor would read lies in the
// files, holds every piece, and is no block twice.
//
//===----------------------------------------------------------------------===//
#include "runtime/checkpoint/ReadPlan.h"
#include "tests/fuzz/Require.h"

#include <string_view>

using namespace weft::checkpoint;

/// The runs of a plan, against the pieces that they are read for.
static void checkPlan(const Manifest &manifest) {
  std::vector<SliceRequest> requests;
  for (const TensorRecord &tensor : manifest.tensors)
    requests.push_back({tensor.name, wholeSlice(tensor.type.shape), tensor.type.shape, {}});
  std::vector<TensorRead> reads;
  for (size_t i = 0; i < requests.size(); ++i)
    reads.push_back({&manifest.tensors[i], &requests[i]});
  const ReadPlan plan = ReadPlan::ofSlices(manifest, reads);
  std::vector<std::vector<bool>> isRead;
  for (const FileRecord &file : manifest.files)
    isRead.emplace_back(file.blocks.size());
  for (const BlockRun &run : plan.runs()) {
    const std::vector<Block> &blocks = manifest.files[run.file].blocks;
    weft::require(run.first < run.last && run.last <= blocks.size(), "a run is not of blocks that there are");
    weft::require(blocks[run.last - 1].end <= manifest.files[run.file].bytes, "a run ends behind its file");
    for (size_t block = run.first; block < run.last; ++block) {
      weft::require(!isRead[run.file][block], "a block is read twice");
      isRead[run.file][block] = true;
    }
  }
  for (const TensorRecord &tensor : manifest.tensors)
    for (const PieceRecord &piece : tensor.pieces)
      for (size_t file = 0; file < manifest.files.size(); ++file)
        for (size_t block = 0; block < isRead[file].size(); ++block) {
          const Block &range = manifest.files[file].blocks[block];
          weft::require(manifest.files[file].name != piece.file || range.end <= piece.begin ||
                            range.begin >= piece.end || isRead[file][block],
                        "a piece is not read whole");
        }
}

static void tryText(std::string_view text) {
  const absl::StatusOr<Manifest> manifest = parseManifest(text, "f");
  if (!manifest.ok())
    return;
  weft::require(checkManifest(*manifest).empty(), "a manifest that was read is not sound");
  checkPlan(*manifest);
  if (manifest->blockBytes == 0)
    return;
  const absl::StatusOr<std::string> written = formatManifest(*manifest);
  weft::require(written.ok(), "a manifest that was read cannot be written");
  const absl::StatusOr<Manifest> again = parseManifest(*written, "f");
  weft::require(again.ok() && *again == *manifest, "a manifest changes when it is written");
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const std::string_view text(reinterpret_cast<const char *>(data), size);
  tryText(text);
  for (int64_t version = 1; version <= kManifestVersion; ++version)
    tryText(withManifestChecksum(text, version));
  return 0;
}
