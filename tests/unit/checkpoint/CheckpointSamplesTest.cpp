//===- CheckpointSamplesTest.cpp - Checkpoints load forever ---------------===//
//
// tests/data/checkpoint holds one small checkpoint of each version of the format, saved by two ranks. Each
// opens, verifies and gives back every value; the newest is, byte for byte, what is written today.
//
//===----------------------------------------------------------------------===//
#include "TestSupport.h"

namespace weft::checkpoint {
namespace {

/// What the samples hold. Element i of each tensor is its number times a factor of the tensor's own.
struct Sample {
  static constexpr int64_t kStep = 12;
  std::vector<float> weight = std::vector<float>(15);
  std::vector<double> moment = std::vector<double>(15);
  std::vector<uint16_t> embedding = {0x3f80, 0x4000, 0x4040, 0x4080, 0xbf80, 0xc000, 0x7f80, 0x0001};
  std::vector<int64_t> updates = {kStep};
  CheckpointState state{kStep,
                        {{"config", "train: {steps: 12}\n"}, {"mesh", "t0 = 2"}},
                        {{"consumed_samples", 384}, {"loss_scale", 0.1}}};

  Sample() {
    for (size_t i = 0; i < weight.size(); ++i) {
      weight[i] = static_cast<float>(i) * 0.5f;
      moment[i] = static_cast<double>(i) * -0.1;
    }
  }

  /// The columns of a 3 x 5 tensor that a rank holds: 3 of the first, 2 of the second, in memory for 3.
  template <typename Element>
  static std::vector<Element> columns(const std::vector<Element> &whole, int64_t rank) {
    std::vector<Element> memory(9, Element(-1));
    for (int64_t row = 0; row < 3; ++row)
      for (int64_t column = 0; column < 3 - rank; ++column)
        memory[static_cast<size_t>(row * 3 + column)] =
            whole[static_cast<size_t>(row * 5 + 3 * rank + column)];
    return memory;
  }

  /// Saves as step-12 of a folder.
  absl::Status save(const std::string &checkpoints) const {
    absl::StatusOr<std::string> temporary = beginSave(checkpoints, kStep, 0, systemFiles());
    if (!temporary.ok())
      return temporary.status();
    std::vector<RankRecord> records;
    for (int64_t rank = 0; rank < 2; ++rank) {
      const std::vector<float> weights = columns(weight, rank);
      const std::vector<double> moments = columns(moment, rank);
      const TensorPart part{{3, 5}, {0, 3 * rank}, "[] [t0]", {3, 3}};
      std::vector<TensorView> views = {{"weight", {DType::F32, {3, 3 - rank}}, weights.data(), part},
                                       {"weight.moment", {DType::F64, {3, 3 - rank}}, moments.data(), part},
                                       {"embedding",
                                        {DType::BF16, {2, 2}},
                                        &embedding[static_cast<size_t>(rank) * 4],
                                        TensorPart{{4, 2}, {2 * rank, 0}, "[t0] []"}}};
      if (rank == 0)
        views.push_back({"updates", {DType::I64, {}}, updates.data(), {}});
      absl::StatusOr<RankRecord> record = writeRank(*temporary, rank, views, systemFiles());
      if (!record.ok())
        return record.status();
      records.push_back(*std::move(record));
    }
    return commitSave(*temporary, state, records, systemFiles());
  }
};

class CheckpointSample : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Versions, CheckpointSample, ::testing::Values("version-1", "version-2"),
                         [](const auto &info) { return "V" + info.param.substr(8); });

TEST_P(CheckpointSample, GivesBackEveryValue) {
  const Sample saved;
  absl::StatusOr<Checkpoint> checkpoint = openCheckpoint(std::string(WEFT_TEST_DATA "/") + GetParam());
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.status();
  EXPECT_EQ(checkpoint->verify(), std::vector<std::string>());
  EXPECT_EQ(checkpoint->state(), saved.state);
  EXPECT_EQ(checkpoint->find("weight")->placement, "[] [t0]");
  EXPECT_EQ(readAs<float>(*checkpoint, "weight", 15), saved.weight);
  EXPECT_EQ(readAs<double>(*checkpoint, "weight.moment", 15), saved.moment);
  EXPECT_EQ(readAs<uint16_t>(*checkpoint, "embedding", 8), saved.embedding);
  EXPECT_EQ(readAs<int64_t>(*checkpoint, "updates", 1), saved.updates);
}

TEST_P(CheckpointSample, GivesBackASlice) {
  absl::StatusOr<Checkpoint> checkpoint = openCheckpoint(std::string(WEFT_TEST_DATA "/") + GetParam());
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.status();
  std::vector<float> values(4); // rows 1 and 2 of columns 2 and 3: each rank has one
  EXPECT_EQ(
      readSlice(*checkpoint, "weight", {{1, 2}, {2, 2}}, {2, 2}, std::as_writable_bytes(std::span(values))),
      absl::OkStatus());
  EXPECT_EQ(values, (std::vector<float>{3.5f, 4, 6, 6.5f}));
}

TEST_P(CheckpointSample, DamagedAnywhereInATensorIsFound) {
  TestFolder folder;
  const std::string copy = folder / "step-12", file = copy + "/rank-00001.safetensors";
  std::filesystem::copy(std::string(WEFT_TEST_DATA "/") + GetParam(), copy);
  const std::string bytes = readText(file);
  absl::StatusOr<Checkpoint> checkpoint = openCheckpoint(copy);
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.status();
  for (const TensorRecord &tensor : checkpoint->tensors())
    for (const PieceRecord &piece : tensor.pieces)
      for (int64_t at = piece.begin; piece.file == "rank-00001.safetensors" && at < piece.end; ++at) {
        std::string flipped = bytes;
        flipped[static_cast<size_t>(at)] ^= 1;
        writeText(file, flipped);
        std::vector<std::byte> values(static_cast<size_t>(tensor.type.bytes()));
        const std::string message(checkpoint->read(tensor.name, values).message());
        EXPECT_NE(message.find(" are damaged, which hold tensor"), std::string::npos) << message;
        EXPECT_EQ(checkpoint->verify(), std::vector<std::string>{message});
      }
}

TEST(CheckpointSamples, TheNewestIsWhatIsWrittenToday) {
  TestFolder folder;
  ASSERT_EQ(Sample().save(folder.path()), absl::OkStatus());
  for (const char *name : {"manifest.json", "rank-00000.safetensors", "rank-00001.safetensors"})
    EXPECT_EQ(readText(folder / "step-12/" + name),
              readText(std::string(WEFT_TEST_DATA "/version-2/") + name));
}

} // namespace
} // namespace weft::checkpoint
