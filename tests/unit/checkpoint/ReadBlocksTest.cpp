//===- ReadBlocksTest.cpp - Reading the blocks that slices touch ----------===//
//
// Slices of tensors that any ranks saved come back with their values, whatever the size of the blocks; what
// is read from the files is the blocks that hold some of them, each byte once, in reads that are not tiny.
//
//===----------------------------------------------------------------------===//
#include "TestSupport.h"

#include <map>
#include <mutex>
#include <random>
#include <set>

namespace weft::checkpoint {
namespace {

std::string bytesOf(size_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::string bytes(count, '\0');
  for (char &byte : bytes)
    byte = static_cast<char>(random());
  return bytes;
}

TEST(Blocks, AreTheSameInWhateverPartsTheBytesCome) {
  const std::string bytes = bytesOf(1000, 1);
  for (int64_t size : {1, 7, 64, 999, 1000, 1001}) {
    BlockChecksums whole(size), parts(size);
    whole.update(bytes.data(), bytes.size());
    for (size_t at = 0, part = 0; at < bytes.size(); at += part, part = part % 13 + 1)
      parts.update(bytes.data() + at, std::min(part, bytes.size() - at));
    const std::vector<Block> blocks = whole.finish();
    EXPECT_EQ(parts.finish(), blocks);
    EXPECT_TRUE(areBlocksOf(blocks, 1000, size));
    EXPECT_EQ(blocks.size(), static_cast<size_t>((1000 + size - 1) / size));
    for (const Block &block : blocks)
      EXPECT_EQ(block.checksum,
                checksumOf(std::string_view(bytes).substr(static_cast<size_t>(block.begin),
                                                          static_cast<size_t>(block.end - block.begin))));
    EXPECT_EQ(blocksFromText(blocksText(blocks), 1000, size), blocks);
  }
  EXPECT_TRUE(BlockChecksums(8).finish().empty());
}

TEST(Blocks, OfAnotherFileAreTold) {
  const std::vector<Block> blocks = {{0, 64, 1}, {64, 100, 2}};
  EXPECT_TRUE(areBlocksOf(blocks, 100, 64));
  EXPECT_FALSE(areBlocksOf(blocks, 101, 64));
  EXPECT_FALSE(areBlocksOf(blocks, 64, 64));
  EXPECT_FALSE(areBlocksOf(blocks, 100, 50));
  EXPECT_FALSE(areBlocksOf({}, 1, 64));
  EXPECT_TRUE(areBlocksOf({}, 0, 64));
  constexpr int64_t most = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(blocksFromText("0000000000000001", most, most), (std::vector<Block>{{0, most, 1}}));
  EXPECT_FALSE(blocksFromText("0000000000000001", most, most - 1));
  EXPECT_FALSE(blocksFromText("0000000000000001", most, 1));
}

TEST(BoxWalk, SeeksTheFirstRunThatEndsBehindAByte) {
  std::mt19937 random(3);
  const auto below = [&](int64_t limit) {
    return static_cast<int64_t>(random() % static_cast<uint32_t>(limit));
  };
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<int64_t> size, fromShape, fromOffset, toShape, toOffset;
    for (int64_t d = 0, rank = below(4); d < rank; ++d) {
      size.push_back(1 + below(4));
      for (auto [shape, offset] : {std::pair(&fromShape, &fromOffset), std::pair(&toShape, &toOffset)}) {
        shape->push_back(size.back() + below(3));
        offset->push_back(below(shape->back() - size.back() + 1));
      }
    }
    const BoxWalk start(2, size, {fromShape, fromOffset}, {toShape, toOffset});
    std::vector<BoxWalk::Run> runs;
    BoxWalk all = start;
    for (BoxWalk::Run run; all.next(run);)
      runs.push_back(run);
    for (int64_t from = 0; from <= runs.back().from + runs.back().bytes; ++from)
      for (size_t before : {size_t{0}, runs.size() / 2}) {
        BoxWalk walk = start;
        BoxWalk::Run run;
        for (size_t i = 0; i < before; ++i)
          ASSERT_TRUE(walk.next(run));
        walk.seek(from);
        size_t expected = before;
        while (expected < runs.size() && runs[expected].from + runs[expected].bytes <= from)
          ++expected;
        ASSERT_EQ(walk.next(run), expected < runs.size());
        if (expected < runs.size()) {
          ASSERT_EQ(run.from, runs[expected].from);
          ASSERT_EQ(run.to, runs[expected].to);
        }
      }
  }
}

/// Remembers what was read of each file; the manifest is not counted.
class CountingSystem : public FileSystem {
public:
  struct Read {
    std::string path;
    int64_t begin, end;
  };
  std::vector<Read> reads;

  int open(const std::string &path, int flags, mode_t mode) override {
    const int descriptor = FileSystem::open(path, flags, mode);
    const std::lock_guard lock(mutex);
    paths[descriptor] = path;
    return descriptor;
  }
  int64_t pread(int descriptor, void *data, size_t size, int64_t offset) override {
    const int64_t count = FileSystem::pread(descriptor, data, size, offset);
    const std::lock_guard lock(mutex);
    if (!paths[descriptor].ends_with(kManifestName))
      reads.push_back({paths[descriptor], offset, offset + count});
    return count;
  }
  /// All bytes that were read, none of which may have been read twice.
  int64_t bytes() const {
    std::map<std::string, std::map<int64_t, int64_t>> ranges;
    int64_t sum = 0;
    for (const Read &read : reads) {
      EXPECT_TRUE(ranges[read.path].emplace(read.begin, read.end).second) << "read twice";
      sum += read.end - read.begin;
    }
    for (const auto &[path, ofFile] : ranges)
      for (auto range = ofFile.begin(); std::next(range) != ofFile.end(); ++range)
        EXPECT_LE(range->second, std::next(range)->first) << path << ": read twice";
    return sum;
  }

private:
  std::mutex mutex;
  std::map<int, std::string> paths;
};

/// A tensor of 16 bits of any shape, whose elements tell their index, cut into random boxes that random ranks
/// save, beside others.
class RandomCheckpoint {
public:
  explicit RandomCheckpoint(std::mt19937 &random) : random(random) {
    for (int d = 0; d < 3; ++d)
      shape.push_back(1 + below(9));
    std::vector<Slice> boxes = {wholeSlice(shape)};
    for (int cut = 0; cut < 4; ++cut) {
      Slice &first = boxes[static_cast<size_t>(below(static_cast<int64_t>(boxes.size())))];
      const size_t d = static_cast<size_t>(below(3));
      Slice second = first;
      const int64_t left = below(first.size[d] + 1);
      first.size[d] = left;
      second.offset[d] += left;
      second.size[d] -= left;
      boxes.push_back(second);
    }
    save(boxes);
  }
  int64_t below(int64_t limit) { return static_cast<int64_t>(random() % static_cast<uint32_t>(limit)); }
  uint16_t at(int64_t i, int64_t j, int64_t k) const {
    return static_cast<uint16_t>((i * shape[1] + j) * shape[2] + k);
  }
  Slice draw() {
    Slice slice;
    for (int64_t length : shape) {
      slice.offset.push_back(below(length + 1));
      slice.size.push_back(below(length - slice.offset.back() + 1));
    }
    return slice;
  }
  std::string path() const { return folder / "step-1"; }

  std::vector<int64_t> shape;
  std::vector<int64_t> small = {41, 42, 43};

private:
  void save(const std::vector<Slice> &boxes) {
    absl::StatusOr<std::string> temporary = beginSave(folder.path(), 1, 0, systemFiles());
    std::vector<RankRecord> records;
    for (const Slice &box : boxes) {
      std::vector<uint16_t> values;
      for (int64_t i = 0; i < box.size[0]; ++i)
        for (int64_t j = 0; j < box.size[1]; ++j)
          for (int64_t k = 0; k < box.size[2]; ++k)
            values.push_back(at(box.offset[0] + i, box.offset[1] + j, box.offset[2] + k));
      std::vector<TensorView> views = {
          {"t", {DType::BF16, box.size}, values.data(), TensorPart{shape, box.offset, ""}}};
      if (records.empty())
        views.push_back({"small", {DType::I64, {3}}, small.data(), {}});
      absl::StatusOr<RankRecord> record =
          writeRank(*temporary, static_cast<int64_t>(records.size()), views, systemFiles());
      ASSERT_TRUE(record.ok()) << record.status();
      records.push_back(*std::move(record));
    }
    CheckpointState state;
    state.step = 1;
    ASSERT_TRUE(commitSave(*temporary, state, records, systemFiles()).ok());
  }

  std::mt19937 &random;
  TestFolder folder;
};

/// The bytes of the blocks that hold some of the slices, found element by element.
int64_t touchedBytes(const Checkpoint &checkpoint, const std::vector<SliceRequest> &requests) {
  std::set<std::pair<std::string, int64_t>> blocks; // file, number
  std::map<std::string, int64_t> fileBytes;
  for (const FileRecord &file : checkpoint.files())
    fileBytes[file.name] = file.bytes;
  for (const SliceRequest &request : requests)
    for (const PieceRecord &piece : checkpoint.find(request.name)->pieces) {
      const int64_t width = (piece.end - piece.begin) / std::max<int64_t>(piece.slice.elements(), 1);
      for (int64_t index = 0; index < piece.slice.elements(); ++index) {
        int64_t left = index;
        bool isWanted = true;
        for (size_t d = piece.slice.size.size(); d-- > 0; left /= piece.slice.size[d]) {
          const int64_t at = piece.slice.offset[d] + left % piece.slice.size[d] - request.slice.offset[d];
          isWanted &= at >= 0 && at < request.slice.size[d];
        }
        for (int64_t byte = 0; isWanted && byte < width; ++byte)
          blocks.emplace(piece.file, (piece.begin + index * width + byte) / checkpoint.blockBytes());
      }
    }
  int64_t sum = 0;
  for (const auto &[file, number] : blocks)
    sum += std::min(checkpoint.blockBytes(), fileBytes[file] - number * checkpoint.blockBytes());
  return sum;
}

TEST(ReadSlices, ReadsTheBlocksThatTheyTouchOnceAndGivesBackTheirValues) {
  std::mt19937 random(5);
  for (int trial = 0; trial < 100; ++trial) {
    RandomCheckpoint saved(random);
    reblock(saved.path(), 1 + saved.below(trial % 2 ? 16 : 400));
    CountingSystem files;
    absl::StatusOr<Checkpoint> checkpoint = openCheckpoint(saved.path(), files);
    ASSERT_TRUE(checkpoint.ok()) << checkpoint.status();
    std::vector<Slice> slices;
    std::vector<std::vector<uint16_t>> memories(static_cast<size_t>(1 + saved.below(4)));
    std::vector<int64_t> small(3);
    std::vector<SliceRequest> requests = {
        {"small", wholeSlice({3}), {3}, std::as_writable_bytes(std::span(small))}};
    for (std::vector<uint16_t> &memory : memories) {
      const Slice slice = saved.draw();
      std::vector<int64_t> shape = slice.size;
      for (int64_t &length : shape)
        length += saved.below(2);
      memory.assign(static_cast<size_t>(wholeSlice(shape).elements()), 0xffff);
      requests.push_back({"t", slice, shape, std::as_writable_bytes(std::span(memory))});
    }
    ThreadPool threads(1 + trial % 3);
    absl::StatusOr<int64_t> read = checkpoint->readSlices(requests, threads);
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(*read, touchedBytes(*checkpoint, requests));
    EXPECT_EQ(*read, files.bytes());
    EXPECT_EQ(small, saved.small);
    for (size_t i = 0; i < memories.size(); ++i) {
      const auto &[name, slice, shape, into] = requests[i + 1];
      for (int64_t at = 0; at < static_cast<int64_t>(memories[i].size()); ++at) {
        const int64_t x = at / (shape[1] * shape[2]), y = at / shape[2] % shape[1], z = at % shape[2];
        const bool isWanted = x < slice.size[0] && y < slice.size[1] && z < slice.size[2];
        ASSERT_EQ(memories[i][static_cast<size_t>(at)],
                  isWanted ? saved.at(slice.offset[0] + x, slice.offset[1] + y, slice.offset[2] + z)
                           : 0xffff);
      }
    }
  }
}

/// 8 MiB of float32 in rows of 4 KiB, and a small tensor before them.
class SavedMatrix : public ::testing::Test {
protected:
  static constexpr int64_t kRows = 2048, kColumns = 1024;
  void SetUp() override {
    std::vector<float> values(kRows * kColumns);
    std::iota(values.begin(), values.end(), 0.0f);
    const int64_t updates = 3;
    CheckpointState state;
    state.step = 1;
    ASSERT_TRUE(saveCheckpoint(folder.path(), state,
                               {{"w", {DType::F32, {kRows, kColumns}}, values.data(), {}},
                                {"updates", {DType::I64, {}}, &updates, {}}})
                    .ok());
  }
  /// Reads a slice of w; the values are as saved.
  int64_t read(const Slice &slice, int threads = 1) {
    absl::StatusOr<Checkpoint> checkpoint = openCheckpoint(folder / "step-1", files);
    EXPECT_TRUE(checkpoint.ok()) << checkpoint.status();
    std::vector<float> values(static_cast<size_t>(slice.elements()));
    ThreadPool pool(threads);
    absl::StatusOr<int64_t> bytes =
        checkpoint->readSlices({{"w", slice, slice.size, std::as_writable_bytes(std::span(values))}}, pool);
    EXPECT_TRUE(bytes.ok()) << bytes.status();
    for (int64_t i = 0; i < slice.elements(); ++i) {
      const int64_t row = slice.offset[0] + i / slice.size[1], column = slice.offset[1] + i % slice.size[1];
      EXPECT_EQ(values[static_cast<size_t>(i)], static_cast<float>(row * kColumns + column));
    }
    EXPECT_EQ(files.bytes(), *bytes);
    return *bytes;
  }

  TestFolder folder;
  CountingSystem files;
};

TEST_F(SavedMatrix, AQuarterOfItsRowsIsAQuarterOfItsBytes) {
  EXPECT_EQ(read({{512, 0}, {512, kColumns}}), (2 << 20) + kBlockBytes); // it does not begin with a block
  EXPECT_EQ(files.reads.size(), 3u);
}

TEST_F(SavedMatrix, ARowIsABlock) { EXPECT_EQ(read({{700, 0}, {1, kColumns}}), kBlockBytes); }

TEST_F(SavedMatrix, AColumnIsNotThousandsOfReads) {
  for (int threads : {1, 3}) {
    files.reads.clear();
    const int64_t fileBytes =
        static_cast<int64_t>(std::filesystem::file_size(folder / "step-1/rank-00000.safetensors"));
    EXPECT_EQ(read({{0, 768}, {kRows, 256}}, threads), fileBytes);
    EXPECT_EQ(files.reads.size(), 9u);
  }
}

TEST_F(SavedMatrix, SmallBlocksThatFollowEachOtherAreReadTogether) {
  reblock(folder / "step-1", 4096);
  EXPECT_EQ(read({{512, 0}, {512, kColumns}}), (2 << 20) + 4096);
  EXPECT_EQ(files.reads.size(), 3u); // 1 MiB at once
}

TEST_F(SavedMatrix, BlocksOfAnySizeAreReadInStretches) {
  reblock(folder / "step-1", int64_t{1} << 40); // all of the file
  EXPECT_GT(read({{0, 0}, {1, 1}}), 8 << 20);
  for (const CountingSystem::Read &each : files.reads)
    EXPECT_LE(each.end - each.begin, static_cast<int64_t>(kChecksumStretch));
}

TEST_F(SavedMatrix, DamageIsFoundWhereItIs) {
  const std::string file = folder / "step-1/rank-00000.safetensors";
  std::string bytes = readText(file);
  bytes[3 << 20] ^= 1;
  writeText(file, bytes);
  EXPECT_EQ(read({{0, 0}, {512, kColumns}}), (2 << 20) + kBlockBytes);
  absl::StatusOr<Checkpoint> checkpoint = openCheckpoint(folder / "step-1");
  std::vector<float> row(kColumns);
  for (int threads : {1, 4}) {
    ThreadPool pool(threads);
    const absl::Status status =
        checkpoint
            ->readSlices(
                {{"w", {{770, 0}, {1, kColumns}}, {1, kColumns}, std::as_writable_bytes(std::span(row))}},
                pool)
            .status();
    EXPECT_EQ(std::string(status.message()).substr(0, file.size() + 69),
              file + ": bytes 3145728 to 3407872 are damaged, which hold tensor 'w': their ");
  }
}

} // namespace
} // namespace weft::checkpoint
