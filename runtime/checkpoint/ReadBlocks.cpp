//===- ReadBlocks.cpp - Blocks of files, to where they are wanted ---------===//
//
// Blocks are read and hashed stretch by stretch while these are in the cache: straight into the caller's
// memory where that holds a stretch together, else through a buffer of one stretch, of which each thread has
// one. Threads take runs of blocks, so they share nothing but the place that says which is next.
//
//===----------------------------------------------------------------------===//
#include "runtime/checkpoint/ReadBlocks.h"
#include "runtime/checkpoint/Checksum.h"
#include "runtime/checkpoint/FileOperations.h"

#include "kernels/common/ThreadPool.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <atomic>
#include <optional>

namespace weft::checkpoint {
namespace {
constexpr size_t kMostNames = 3;

/// The tensors that have some of the bytes [begin, end) of a file, for a message.
std::string tensorsAt(const Manifest &manifest, const std::string &file, int64_t begin, int64_t end) {
  std::vector<std::string> names;
  for (const TensorRecord &tensor : manifest.tensors)
    if (std::any_of(tensor.pieces.begin(), tensor.pieces.end(), [&](const PieceRecord &piece) {
          return piece.file == file && piece.begin < end && begin < piece.end;
        }))
      names.push_back(absl::StrCat("'", tensor.name, "'"));
  if (names.empty())
    return "the header";
  std::string text = names.size() == 1 ? "tensor " : "tensors ";
  const size_t shown = std::min(names.size(), kMostNames);
  for (size_t i = 0; i < shown; ++i)
    absl::StrAppend(&text, i == 0 ? "" : i + 1 == names.size() ? " and " : ", ", names[i]);
  if (names.size() > shown)
    absl::StrAppend(&text, " and ", names.size() - shown, " more");
  return text;
}

/// What one thread reads with.
class BlockReader {
public:
  BlockReader(FileSystem &files, const std::string &folder, const ReadPlan &plan)
      : files(files), folder(folder), plan(plan) {}

  /// Reads a run. A damaged block is a failure; where there is a list of damage, it goes there instead, and
  /// the next ones are read.
  absl::Status read(const BlockRun &run, std::vector<absl::Status> *damage);

private:
  absl::Status open(size_t number);
  absl::Status damaged(const Block &block, uint64_t found) const;
  const FileRecord &record() const { return plan.manifest().files[number]; }
  absl::StatusOr<std::span<const std::byte>> readStretch(int64_t begin, int64_t end);

  FileSystem &files;
  const std::string &folder;
  const ReadPlan &plan;
  std::optional<InputFile> file; ///< The one that the last run was of.
  size_t number = 0;
  std::vector<std::byte> buffer;
};

absl::Status BlockReader::open(size_t wanted) {
  if (file && number == wanted)
    return absl::OkStatus();
  file.reset();
  number = wanted;
  absl::StatusOr<InputFile> opened = InputFile::open(files, absl::StrCat(folder, "/", record().name));
  if (!opened.ok())
    return opened.status();
  file.emplace(*std::move(opened));
  return absl::OkStatus();
}

absl::Status BlockReader::damaged(const Block &block, uint64_t found) const {
  return absl::DataLossError(absl::StrCat(
      folder, "/", record().name, ": bytes ", block.begin, " to ", block.end, " are damaged, which hold ",
      tensorsAt(plan.manifest(), record().name, block.begin, block.end), ": their checksum is ",
      checksumText(found), ", ", checksumText(block.checksum),
      " was saved. Use another checkpoint (move this folder away to go on from the one before it)."));
}

/// Reads these bytes of the file and copies them to where they are wanted; they are valid until the next
/// call.
absl::StatusOr<std::span<const std::byte>> BlockReader::readStretch(int64_t begin, int64_t end) {
  const size_t length = static_cast<size_t>(end - begin);
  const std::span<const PieceCopy> copies = plan.copiesOf(number, begin, end);
  const PieceCopy *straight = nullptr;
  std::byte *place = nullptr;
  for (size_t i = 0; i < copies.size() && !place; ++i)
    if (place = copies[i].placeOf(begin, end); place)
      straight = &copies[i];
  if (!place) {
    buffer.resize(kChecksumStretch);
    place = buffer.data();
  }
  if (absl::Status status = file->read(begin, place, length); !status.ok())
    return status;
  const std::span<const std::byte> bytes(place, length);
  for (const PieceCopy &copy : copies)
    if (&copy != straight)
      copy.take(begin, bytes);
  return bytes;
}

absl::Status BlockReader::read(const BlockRun &run, std::vector<absl::Status> *damage) {
  if (absl::Status status = open(run.file); !status.ok())
    return status;
  const std::vector<Block> &blocks = record().blocks;
  const int64_t end = blocks[run.last - 1].end;
  size_t block = run.first;
  Checksum checksum;
  for (int64_t at = blocks[block].begin; at < end;) {
    const int64_t stop = std::min(at + static_cast<int64_t>(kChecksumStretch), end);
    absl::StatusOr<std::span<const std::byte>> bytes = readStretch(at, stop);
    if (!bytes.ok())
      return bytes.status();
    for (const int64_t start = at; at < stop;) {
      const int64_t part = std::min(stop, blocks[block].end) - at;
      checksum.update(bytes->data() + (at - start), static_cast<size_t>(part));
      at += part;
      if (at < blocks[block].end)
        continue;
      if (checksum.value() != blocks[block].checksum) {
        absl::Status failure = damaged(blocks[block], checksum.value());
        if (!damage)
          return failure;
        damage->push_back(std::move(failure));
      }
      checksum = Checksum();
      ++block;
    }
  }
  return absl::OkStatus();
}
} // namespace

absl::Status readBlocks(FileSystem &files, const std::string &folder, const ReadPlan &plan,
                        ThreadPool &threads) {
  const std::vector<BlockRun> runs = plan.runs();
  std::vector<BlockReader> readers;
  readers.reserve(static_cast<size_t>(threads.size())); // Readers stay where they are: threads hold them.
  for (int worker = 0; worker < threads.size(); ++worker)
    readers.emplace_back(files, folder, plan);
  std::vector<absl::Status> failures(runs.size());
  std::atomic<bool> hasFailed{false};
  threads.forEachTile(static_cast<int64_t>(runs.size()), [&](int64_t index, int worker) {
    const auto at = static_cast<size_t>(index);
    if (!hasFailed)
      failures[at] = readers[static_cast<size_t>(worker)].read(runs[at], nullptr);
    if (!failures[at].ok())
      hasFailed = true;
  });
  absl::Status first;
  for (const absl::Status &failure : failures)
    first.Update(failure);
  return first;
}

std::vector<absl::Status> findDamage(FileSystem &files, const std::string &folder, const ReadPlan &plan) {
  std::vector<absl::Status> found;
  BlockReader reader(files, folder, plan);
  for (const BlockRun &run : plan.runs())
    if (absl::Status status = reader.read(run, &found); !status.ok())
      found.push_back(std::move(status));
  return found;
}

} // namespace weft::checkpoint
