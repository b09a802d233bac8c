//===- ReadPlan.cpp - Which blocks of which files a read touches ----------===//
//
// Marking jumps from the end of one touched block to the next range behind it, so it costs as many steps as
// there are blocks, not ranges. Pieces in a file share no bytes (checkManifest), so sorted by their place
// they are found by bisection.
//
//===----------------------------------------------------------------------===//
#include "runtime/checkpoint/ReadPlan.h"
#include "runtime/checkpoint/Checksum.h"

#include "absl/container/flat_hash_map.h"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace weft::checkpoint {
namespace {
/// Where a box of a tensor begins in a dense part of it that begins at `corner`.
BoxPlace placeIn(const std::vector<int64_t> &corner, const std::vector<int64_t> &shape, const Slice &box) {
  BoxPlace place{shape, {}};
  for (size_t d = 0; d < shape.size(); ++d)
    place.offset.push_back(box.offset[d] - corner[d]);
  return place;
}

BoxWalk sharedRuns(const TensorRecord &tensor, const PieceRecord &piece, const SliceRequest &wanted) {
  const Slice shared = intersection(piece.slice, wanted.slice);
  return {byteSize(tensor.type.dtype), shared.size, placeIn(piece.slice.offset, piece.slice.size, shared),
          placeIn(wanted.slice.offset, wanted.memory, shared)};
}
} // namespace

PieceCopy::PieceCopy(const TensorRecord &tensor, const PieceRecord &piece, const SliceRequest &wanted)
    : piece(&piece), runs(sharedRuns(tensor, piece, wanted)), into(wanted.into.data()) {}

std::byte *PieceCopy::placeOf(int64_t begin, int64_t end) const {
  if (begin < piece->begin || end > piece->end)
    return nullptr;
  const int64_t from = begin - piece->begin;
  BoxWalk walk = runs;
  walk.seek(from);
  BoxWalk::Run run;
  const bool isTogether = walk.next(run) && run.from <= from && run.from + run.bytes >= end - piece->begin;
  return isTogether ? into + run.to + (from - run.from) : nullptr;
}

void PieceCopy::take(int64_t begin, std::span<const std::byte> bytes) const {
  const int64_t first = begin - piece->begin, end = first + static_cast<int64_t>(bytes.size());
  BoxWalk walk = runs;
  walk.seek(first);
  for (BoxWalk::Run run; walk.next(run) && run.from < end;) {
    const int64_t from = std::max(run.from, first), to = std::min(run.from + run.bytes, end);
    std::memcpy(into + run.to + (from - run.from), bytes.data() + (from - first),
                static_cast<size_t>(to - from));
  }
}

ReadPlan::ReadPlan(const Manifest &manifest) : contents(&manifest), reads(manifest.files.size()) {
  for (size_t file = 0; file < reads.size(); ++file)
    reads[file].isTouched.resize(manifest.files[file].blocks.size());
}

ReadPlan ReadPlan::ofSlices(const Manifest &manifest, const std::vector<TensorRead> &slices) {
  ReadPlan plan(manifest);
  absl::flat_hash_map<std::string_view, size_t> numbers;
  for (size_t file = 0; file < manifest.files.size(); ++file)
    numbers.emplace(manifest.files[file].name, file);
  for (const TensorRead &read : slices)
    for (const PieceRecord &piece : read.tensor->pieces)
      if (intersection(piece.slice, read.wanted->slice).elements() > 0)
        plan.add(PieceCopy(*read.tensor, piece, *read.wanted), numbers.at(piece.file));
  for (FileReads &file : plan.reads)
    std::stable_sort(file.copies.begin(), file.copies.end(), [](const PieceCopy &a, const PieceCopy &b) {
      return a.source().begin < b.source().begin;
    });
  return plan;
}

ReadPlan ReadPlan::ofFile(const Manifest &manifest, size_t file) {
  ReadPlan plan(manifest);
  plan.reads[file].isTouched.assign(plan.reads[file].isTouched.size(), true);
  return plan;
}

void ReadPlan::add(const PieceCopy &copy, size_t file) {
  copy.forEachRange([&](int64_t begin, int64_t end) { return touch(file, begin, end); });
  reads[file].copies.push_back(copy);
}

int64_t ReadPlan::touch(size_t file, int64_t begin, int64_t end) {
  const std::vector<Block> &blocks = contents->files[file].blocks;
  auto block = std::partition_point(blocks.begin(), blocks.end(),
                                    [begin](const Block &block) { return block.end <= begin; });
  for (; block != blocks.end() && block->begin < end; ++block)
    reads[file].isTouched[static_cast<size_t>(block - blocks.begin())] = true;
  return std::prev(block)->end;
}

std::vector<BlockRun> ReadPlan::runs() const {
  constexpr auto most = static_cast<int64_t>(kChecksumStretch);
  std::vector<BlockRun> runs;
  const auto bytesOf = [&](const BlockRun &run) {
    const std::vector<Block> &blocks = contents->files[run.file].blocks;
    return blocks[run.last - 1].end - blocks[run.first].begin;
  };
  for (size_t file = 0; file < reads.size(); ++file) {
    const std::vector<Block> &blocks = contents->files[file].blocks;
    for (size_t block = 0; block < blocks.size(); ++block) {
      if (!reads[file].isTouched[block])
        continue;
      const bool follows = !runs.empty() && runs.back().file == file && runs.back().last == block &&
                           blocks[block - 1].end == blocks[block].begin &&
                           blocks[block].end - blocks[runs.back().first].begin <= most;
      if (follows)
        ++runs.back().last;
      else
        runs.push_back({file, block, block + 1});
    }
  }
  std::stable_sort(runs.begin(), runs.end(), [&](const BlockRun &a, const BlockRun &b) {
    return std::max(bytesOf(a), most) > std::max(bytesOf(b), most);
  });
  return runs;
}

int64_t ReadPlan::bytes() const {
  int64_t sum = 0;
  for (size_t file = 0; file < reads.size(); ++file)
    for (size_t block = 0; block < reads[file].isTouched.size(); ++block)
      if (reads[file].isTouched[block])
        sum += contents->files[file].blocks[block].end - contents->files[file].blocks[block].begin;
  return sum;
}

std::span<const PieceCopy> ReadPlan::copiesOf(size_t file, int64_t begin, int64_t end) const {
  const std::vector<PieceCopy> &copies = reads[file].copies;
  const auto first = std::partition_point(copies.begin(), copies.end(),
                                          [&](const PieceCopy &copy) { return copy.source().end <= begin; });
  const auto last = std::partition_point(first, copies.end(),
                                         [&](const PieceCopy &copy) { return copy.source().begin < end; });
  return {first, last};
}

} // namespace weft::checkpoint
