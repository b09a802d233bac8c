//===- CheckpointTest.cpp - Saving, opening and reading one checkpoint ----===//
//
// What was saved is what is read; what is not whole, not sound or does not fit is refused with a message that
// says what to do. Each message is held verbatim.
//
//===----------------------------------------------------------------------===//
#include "TestSupport.h"

#include "runtime/checkpoint/SafetensorsFile.h"
#include "runtime/support/ExitCode.h"

#include "gmock/gmock.h"

namespace weft::checkpoint {
namespace {

class SavedCheckpoint : public ::testing::Test {
protected:
  void SetUp() override {
    const absl::Status status = saveCheckpoint(folder.path(), program.state, program.views());
    ASSERT_TRUE(status.ok()) << status;
  }
  std::string open() const {
    absl::StatusOr<Checkpoint> checkpoint = openCheckpoint(step);
    return checkpoint.ok() ? "" : std::string(checkpoint.status().message());
  }

  TestFolder folder;
  Program program{300};
  std::string step = folder / "step-300";
  std::string tensors = step + "/rank-00000.safetensors";
  std::string manifest = step + "/manifest.json";
};

TEST_F(SavedCheckpoint, GivesBackEveryTensorAndTheState) {
  absl::StatusOr<Checkpoint> checkpoint = openCheckpoint(step);
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.status();
  EXPECT_EQ(checkpoint->state(), program.state);
  EXPECT_EQ(readAs<float>(*checkpoint, "weight", 6), program.weight);
  EXPECT_EQ(readAs<double>(*checkpoint, "weight.moment", 6), program.moment);
  EXPECT_EQ(readAs<int64_t>(*checkpoint, "updates", 1), std::vector<int64_t>{300});
  EXPECT_EQ(checkpoint->tensorBytes(), 6 * 4 + 6 * 8 + 8);
  EXPECT_TRUE(checkpoint->verify().empty());
}

TEST_F(SavedCheckpoint, IsASafetensorsFileThatOthersRead) {
  absl::StatusOr<SafetensorsFile> file = SafetensorsFile::open(systemFiles(), tensors);
  ASSERT_TRUE(file.ok()) << file.status();
  const SafetensorsEntry *entry = file->find("weight");
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(std::memcmp(file->bytes(*entry).data(), program.weight.data(), 24), 0);
}

TEST_F(SavedCheckpoint, OfEqualStateHasEqualBytes) {
  TestFolder other;
  ASSERT_TRUE(saveCheckpoint(other.path(), program.state, program.views()).ok());
  EXPECT_EQ(readText(other / "step-300/rank-00000.safetensors"), readText(tensors));
  EXPECT_EQ(readText(other / "step-300/manifest.json"), readText(manifest));
}

TEST_F(SavedCheckpoint, ThatFitsTheProgramPasses) {
  absl::StatusOr<Checkpoint> checkpoint = openCheckpoint(step);
  EXPECT_TRUE(checkpoint
                  ->checkTensors({{"weight", {DType::F32, {2, 3}}},
                                  {"weight.moment", {DType::F64, {2, 3}}},
                                  {"updates", {DType::I64, {}}}})
                  .ok());
}

TEST_F(SavedCheckpoint, OfAnotherProgramIsRefusedWithEveryDifference) {
  absl::StatusOr<Checkpoint> checkpoint = openCheckpoint(step);
  const absl::Status status = checkpoint->checkTensors(
      {{"weight", {DType::F32, {3, 3}}}, {"updates", {DType::I32, {}}}, {"bias", {DType::F32, {3}}}});
  EXPECT_EQ(status.message(),
            step + ": the checkpoint does not fit this program, 4 tensors differ:\n"
                   "  bias: tensor<3xf32> in the program, absent in the checkpoint\n"
                   "  updates: tensor<i32> in the program, tensor<i64> in the checkpoint\n"
                   "  weight.moment: absent in the program, tensor<2x3xf64> in the checkpoint\n"
                   "  weight: tensor<3x3xf32> in the program, tensor<2x3xf32> in the checkpoint\n"
                   "Use the model and optimizer that it was saved with, or start a new run.");
}

TEST_F(SavedCheckpoint, WithAFlippedBitIsFoundWhenTheTensorIsRead) {
  const std::string bytes = readText(tensors);
  std::string flipped = bytes;
  flipped.back() ^= 1; // The last tensor by (size, name) is weight.
  writeText(tensors, flipped);
  absl::StatusOr<Checkpoint> checkpoint = openCheckpoint(step);
  ASSERT_TRUE(checkpoint.ok());
  std::vector<float> values(6);
  const absl::Status status = checkpoint->read("weight", std::as_writable_bytes(std::span(values)));
  EXPECT_EQ(
      std::string(status.message()),
      tensors +
          ": bytes 0 to 280 are damaged, which hold tensors 'updates', 'weight' and 'weight.moment': "
          "their checksum is " +
          checksumText(checksumOf(flipped)) + ", " + checksumText(checksumOf(bytes)) +
          " was saved. Use another checkpoint (move this folder away to go on from the one before it).");
  EXPECT_EQ(checkpoint->verify(), std::vector<std::string>{std::string(status.message())});
}

TEST_F(SavedCheckpoint, WithAFlippedBitGivesBackWhatLiesInOtherBlocks) {
  reblock(step, 8);
  std::string bytes = readText(tensors);
  bytes.back() ^= 1;
  writeText(tensors, bytes);
  absl::StatusOr<Checkpoint> checkpoint = openCheckpoint(step);
  ASSERT_TRUE(checkpoint.ok());
  EXPECT_EQ(readAs<double>(*checkpoint, "weight.moment", 6), program.moment);
  std::vector<float> values(6);
  const absl::Status status = checkpoint->read("weight", std::as_writable_bytes(std::span(values)));
  EXPECT_EQ(std::string(status.message()).substr(0, tensors.size() + 59),
            tensors + ": bytes 272 to 280 are damaged, which hold tensor 'weight':");
  EXPECT_EQ(readSlice(*checkpoint, "weight", {{0, 0}, {1, 3}}, {1, 3},
                      std::as_writable_bytes(std::span(values).first(3))),
            absl::OkStatus());
  bytes[270] ^= 1;
  bytes[20] ^= 1;
  writeText(tensors, bytes);
  const std::vector<std::string> problems = checkpoint->verify();
  ASSERT_EQ(problems.size(), 3u);
  EXPECT_EQ(problems[0].rfind(tensors + ": bytes 16 to 24 are damaged, which hold the header:", 0), 0u);
  EXPECT_EQ(problems[1].rfind(tensors + ": bytes 264 to 272 are damaged, which hold tensor 'weight':", 0),
            0u);
  EXPECT_EQ(problems[2], std::string(status.message()));
}

TEST_F(SavedCheckpoint, WithEveryBitOfItsManifestFlippedIsRefused) {
  const std::string text = readText(manifest);
  for (size_t at = 0; at < text.size(); at += 7) {
    std::string flipped = text;
    flipped[at] ^= static_cast<char>(1 << at % 8);
    writeText(manifest, flipped);
    EXPECT_FALSE(openCheckpoint(step).ok()) << "byte " << at;
  }
}

TEST_F(SavedCheckpoint, CutShortIsRefused) {
  std::filesystem::resize_file(tensors, std::filesystem::file_size(tensors) - 1);
  EXPECT_EQ(open(),
            tensors + ": broken checkpoint: the file has 279 bytes, 280 were saved. Use another checkpoint.");
}

TEST_F(SavedCheckpoint, WithoutItsManifestIsRefused) {
  std::filesystem::remove(manifest);
  EXPECT_EQ(open(), step + ": broken checkpoint: it has no manifest.json. Use another checkpoint.");
}

TEST_F(SavedCheckpoint, WithoutItsTensorsIsRefused) {
  std::filesystem::remove(tensors);
  EXPECT_EQ(open(), tensors + ": broken checkpoint: the file is missing. Use another checkpoint.");
}

TEST_F(SavedCheckpoint, OfANewerFormatIsRefused) {
  writeText(manifest, replaced(readText(manifest), "\"version\": 2", "\"version\": 3"));
  EXPECT_EQ(open(), manifest +
                        ": checkpoint format version 3, this weft reads versions 1 to 2. Use the weft that "
                        "wrote it, or a newer one.");
}

TEST_F(SavedCheckpoint, WhoseHeaderDisagreesWithTheManifestIsFoundByVerify) {
  std::string bytes = readText(tensors);
  writeText(tensors, replaced(bytes, "\"weight\"", "\"height\""));
  reblock(step, kBlockBytes);
  EXPECT_EQ(
      openCheckpoint(step)->verify(),
      std::vector<std::string>{tensors + ": its header does not agree with the manifest on tensor 'weight'"});
}

TEST_F(SavedCheckpoint, ReadsNamedThingsOnly) {
  absl::StatusOr<Checkpoint> checkpoint = openCheckpoint(step);
  std::vector<std::byte> room(8);
  EXPECT_EQ(checkpoint->read("nothing", room).message(),
            step + ": no tensor 'nothing' in this checkpoint. `weft ckpt inspect` lists those it has.");
  EXPECT_EQ(checkpoint->read("weight", room).message(),
            step + ": tensor 'weight' has 24 bytes, room for 8 was given");
}

TEST(Checkpoint, ThatDoesNotExistIsRefused) {
  TestFolder folder;
  EXPECT_EQ(openCheckpoint(folder / "step-1").status().message(),
            folder / "step-1: no such checkpoint. Check the path.");
}

TEST(Checkpoint, ErrorsEndAProcessWithTheirCode) {
  struct Full : FileSystem {
    int64_t freeBytes(const std::string &) override { return 0; }
  } full;
  struct Unreadable : FileSystem {
    int lstat(const std::string &, struct stat &) override { return -EIO; }
    int64_t pread(int, void *, size_t, int64_t) override { return -EIO; }
    int list(const std::string &, std::vector<std::string> &) override { return -EIO; }
  } unreadable;
  TestFolder folder;
  const Program program(1);
  const auto code = [](const absl::Status &status) { return exitCodeOf(status); };
  EXPECT_EQ(code(saveCheckpoint(folder.path(), program.state, program.views(), {0, &full})),
            ExitCode::Checkpoint);
  ASSERT_TRUE(saveCheckpoint(folder.path(), program.state, program.views()).ok());
  const std::string step = folder / "step-1";
  EXPECT_EQ(code(openCheckpoint(step, unreadable).status()), ExitCode::Checkpoint);
  EXPECT_EQ(code(openCheckpoint(folder / "step-2").status()), ExitCode::Checkpoint);
  EXPECT_EQ(code(openCheckpoint(step)->read("nothing", {})), ExitCode::Checkpoint);
  EXPECT_EQ(code(openCheckpoint(step)->checkTensors({})), ExitCode::Checkpoint);
  EXPECT_EQ(code(findLatest(folder.path(), unreadable).status()), ExitCode::Checkpoint);
  EXPECT_EQ(code(cleanLeftovers(folder.path(), unreadable).status()), ExitCode::Checkpoint);
}

TEST(Checkpoint, SavedByTwoRanksReadsAsOneTensor) {
  TestFolder folder;
  const std::vector<float> left = {0, 1, 4, 5, 8, 9}, right = {2, 3, 6, 7, 10, 11}, bias = {7};
  const auto view = [](const std::vector<float> &data, int64_t column) {
    return TensorView{
        "weight", {DType::F32, {3, 2}}, data.data(), TensorPart{{3, 4}, {0, column}, "[] [t0]"}};
  };
  absl::StatusOr<std::string> temporary = beginSave(folder.path(), 5, 48, systemFiles());
  ASSERT_TRUE(temporary.ok());
  absl::StatusOr<RankRecord> first =
      writeRank(*temporary, 0, {view(left, 0), {"bias", {DType::F32, {1}}, bias.data(), {}}}, systemFiles());
  absl::StatusOr<RankRecord> second = writeRank(*temporary, 1, {view(right, 2)}, systemFiles());
  ASSERT_TRUE(first.ok() && second.ok());
  CheckpointState state;
  state.step = 5;
  ASSERT_TRUE(commitSave(*temporary, state, {*first, *second}, systemFiles()).ok());

  absl::StatusOr<Checkpoint> checkpoint = openCheckpoint(folder / "step-5");
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.status();
  EXPECT_EQ(readAs<float>(*checkpoint, "weight", 12),
            (std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
  EXPECT_EQ(checkpoint->find("weight")->placement, "[] [t0]");
  EXPECT_EQ(checkpoint->files().size(), 2u);
  EXPECT_TRUE(checkpoint->verify().empty());
}

/// A 3 x 5 tensor saved by four ranks: two rows and three columns at most for each, from memory of that size.
class SavedByFour : public ::testing::Test {
protected:
  void SetUp() override {
    absl::StatusOr<std::string> temporary = beginSave(folder.path(), 1, 60, systemFiles());
    ASSERT_TRUE(temporary.ok());
    std::vector<RankRecord> records;
    for (int64_t rank = 0; rank < 4; ++rank) {
      const int64_t row = 2 * (rank / 2), column = 3 * (rank % 2);
      const int64_t rows = std::min<int64_t>(2, 3 - row), columns = std::min<int64_t>(3, 5 - column);
      std::vector<float> memory(6, -1); // what lies behind the part is nobody's
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < columns; ++j)
          memory[static_cast<size_t>(i * 3 + j)] = static_cast<float>((row + i) * 5 + column + j);
      absl::StatusOr<RankRecord> record =
          writeRank(*temporary, rank,
                    {{"w",
                      {DType::F32, {rows, columns}},
                      memory.data(),
                      TensorPart{{3, 5}, {row, column}, "[d0] [t0]", {2, 3}}}},
                    systemFiles());
      ASSERT_TRUE(record.ok()) << record.status();
      absl::StatusOr<std::string> text = formatRankRecord(*record); // as it goes to the rank that commits
      ASSERT_TRUE(text.ok());
      ASSERT_EQ(*parseRankRecord(*text), *record);
      records.push_back(*std::move(record));
    }
    CheckpointState state;
    state.step = 1;
    ASSERT_TRUE(commitSave(*temporary, state, records, systemFiles()).ok());
  }

  TestFolder folder;
};

TEST_F(SavedByFour, PaddedTailsAreNotWritten) {
  absl::StatusOr<Checkpoint> checkpoint = openCheckpoint(folder / "step-1");
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.status();
  std::vector<float> expected(15);
  std::iota(expected.begin(), expected.end(), 0.0f);
  EXPECT_EQ(readAs<float>(*checkpoint, "w", 15), expected);
  EXPECT_EQ(checkpoint->tensorBytes(), 60);
  EXPECT_TRUE(checkpoint->verify().empty());
}

TEST_F(SavedByFour, EverySliceReadsIntoMemoryOfAnySize) {
  absl::StatusOr<Checkpoint> checkpoint = openCheckpoint(folder / "step-1");
  ASSERT_TRUE(checkpoint.ok());
  for (int64_t row = 0; row <= 3; ++row)
    for (int64_t rows = 0; row + rows <= 3; ++rows)
      for (int64_t column = 0; column <= 5; ++column)
        for (int64_t columns = 0; column + columns <= 5; ++columns) {
          const std::vector<int64_t> memory = {rows + 1, columns + 2};
          std::vector<float> values(static_cast<size_t>(memory[0] * memory[1]), -1);
          std::vector<float> expected = values;
          for (int64_t i = 0; i < rows; ++i)
            for (int64_t j = 0; j < columns; ++j)
              expected[static_cast<size_t>(i * memory[1] + j)] =
                  static_cast<float>((row + i) * 5 + column + j);
          ASSERT_EQ(readSlice(*checkpoint, "w", {{row, column}, {rows, columns}}, memory,
                              std::as_writable_bytes(std::span(values))),
                    absl::OkStatus());
          ASSERT_EQ(values, expected);
        }
}

TEST_F(SavedByFour, ASliceTouchesOnlyTheFilesThatHoldSomeOfIt) {
  absl::StatusOr<Checkpoint> checkpoint = openCheckpoint(folder / "step-1");
  ASSERT_TRUE(checkpoint.ok());
  const std::string last = folder / "step-1/rank-00003.safetensors";
  std::string text = readText(last);
  text.back() ^= 1; // damages the last row's last element
  writeText(last, text);
  std::vector<float> values(10);
  EXPECT_EQ(readSlice(*checkpoint, "w", {{0, 0}, {2, 5}}, {2, 5}, std::as_writable_bytes(std::span(values))),
            absl::OkStatus());
  std::vector<float> one(1);
  EXPECT_THAT(std::string(readSlice(*checkpoint, "w", {{2, 3}, {1, 1}}, {1, 1},
                                    std::as_writable_bytes(std::span(one)))
                              .message()),
              ::testing::HasSubstr("are damaged, which hold tensor 'w'")); // although that element is not
}

TEST_F(SavedByFour, SlicesThatCannotBeAreRefused) {
  absl::StatusOr<Checkpoint> checkpoint = openCheckpoint(folder / "step-1");
  ASSERT_TRUE(checkpoint.ok());
  std::vector<std::byte> room(1000);
  const auto messageOf = [&](const Slice &slice, const std::vector<int64_t> &memory, size_t bytes) {
    return std::string(readSlice(*checkpoint, "w", slice, memory, std::span(room).first(bytes)).message());
  };
  const std::string start = checkpoint->folder() + ": tensor 'w'";
  EXPECT_EQ(messageOf({{2, 0}, {2, 5}}, {2, 5}, 40), start + ": slice [2+2, 0+5] lies outside of the tensor");
  EXPECT_EQ(messageOf({{0}, {3}}, {3}, 12), start + ": a slice has 1 dimensions, the tensor 2");
  EXPECT_EQ(messageOf({{0, 0}, {3, 5}}, {3, 4}, 48),
            start + ": slice [0+3, 0+5] is larger than the memory for it");
  EXPECT_EQ(messageOf({{0, 0}, {1, 5}}, {1, 5}, 16), start + " has 20 bytes, room for 16 was given");
}

TEST(Checkpoint, WhoseRecordOfARankIsDamagedIsNotSaved) {
  EXPECT_EQ(parseRankRecord("{\"file\": 3").status().message(),
            "the record of what a rank saved is broken: it is not JSON");
  EXPECT_EQ(
      parseRankRecord("{\"file\": {\"name\": \"a\", \"bytes\": 1}, \"tensors\": []}").status().message(),
      "the record of what a rank saved is broken: a file has no 'xxh64'");
  EXPECT_EQ(parseRankRecord("{\"file\": {\"name\": \"a\", \"bytes\": 1}}").status().message(),
            "the record of what a rank saved is broken: the record has no 'tensors'");
}

TEST(Checkpoint, WhoseRanksLeaveAHoleIsNotSaved) {
  TestFolder folder;
  const float value = 1;
  absl::StatusOr<std::string> temporary = beginSave(folder.path(), 5, 4, systemFiles());
  absl::StatusOr<RankRecord> only = writeRank(
      *temporary, 0, {{"w", {DType::F32, {1}}, &value, TensorPart{{2}, {0}, "[t0]"}}}, systemFiles());
  CheckpointState state;
  state.step = 5;
  EXPECT_EQ(commitSave(*temporary, state, {*only}, systemFiles()).message(),
            "checkpoint: tensor 'w': its slices hold 1 of 2 elements");
  EXPECT_EQ(latestWholeStep(folder.path()), -1);
}

TEST(Checkpoint, IsNotSavedFromAStateThatJsonCannotHold) {
  TestFolder folder;
  Program program(1);
  program.state.values["scale"] = {1.0, std::numeric_limits<double>::infinity()};
  EXPECT_EQ(
      saveCheckpoint(folder.path(), program.state, program.views()).message(),
      "checkpoint state: /values/scale/1 cannot be written as JSON (is it a number that is not finite?)");
  program.state.values = {{"name", "\xff"}};
  EXPECT_EQ(saveCheckpoint(folder.path(), program.state, program.views()).message(),
            "checkpoint state: a text, a key or a tensor's name is not UTF-8");
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(Checkpoint, IsNotSavedFromTensorsThatCannotBe) {
  TestFolder folder;
  const Program program(1);
  const auto save = [&](std::vector<TensorView> views) {
    return std::string(saveCheckpoint(folder.path(), program.state, views).message());
  };
  EXPECT_EQ(save({{"w", {DType::F32, {2}}, nullptr, {}}}), "checkpoint: tensor 'w' has no data");
  EXPECT_EQ(save({{"w", {DType::F32, {int64_t{1} << 62}}, &program, {}}}),
            "checkpoint: the shape of tensor 'w' overflows");
  const std::string file = folder / "step-1.tmp/rank-00000.safetensors";
  EXPECT_EQ(save({program.views()[0], program.views()[0]}),
            file + ": tensor name 'weight' comes twice. Give each tensor a name of its own.");
}

TEST(Checkpoint, SurvivesShortWritesAndInterruptions) {
  struct Stuttering : FileSystem {
    int calls = 0;
    int64_t write(int descriptor, const void *data, size_t size) override {
      return ++calls % 2 ? -EINTR : FileSystem::write(descriptor, data, std::min<size_t>(size, 7));
    }
    int fsync(int descriptor) override { return ++calls % 3 ? -EINTR : FileSystem::fsync(descriptor); }
    int64_t pread(int descriptor, void *data, size_t size, int64_t offset) override {
      return ++calls % 2 ? -EINTR : FileSystem::pread(descriptor, data, std::min<size_t>(size, 5), offset);
    }
  } files;
  TestFolder folder;
  const Program program(1);
  ASSERT_TRUE(saveCheckpoint(folder.path(), program.state, program.views(), {0, &files}).ok());
  absl::StatusOr<Checkpoint> checkpoint = openCheckpoint(folder / "step-1", files);
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.status();
  EXPECT_EQ(readAs<float>(*checkpoint, "weight", 6), program.weight);
}

TEST(Checkpoint, LargerThanAnyBufferGivesBackItsBits) {
  TestFolder folder;
  const Program program(1, 3 * 700'001); // 8.4 and 16.8 MB, no multiple of a buffer.
  ASSERT_TRUE(saveCheckpoint(folder.path(), program.state, program.views()).ok());
  EXPECT_EQ(latestWholeStep(folder.path()), 1);
}

} // namespace
} // namespace weft::checkpoint
