//===- HuggingFaceFolderTest.cpp - Weights as save_pretrained leaves them --===//
#include "tests/unit/interchange/Folders.h"

namespace weft::interchange {
namespace {
using ::testing::HasSubstr;

std::string problem(const std::string &path) {
  const absl::StatusOr<HuggingFaceFolder> opened = HuggingFaceFolder::open(path);
  return std::string(opened.status().message());
}

TEST(HuggingFaceFolder, ListsTheTensorsOfOneFile) {
  TestFolder scratch;
  const HuggingFaceFolder folder =
      openFolder(makeFolder(scratch, {{"b", {2, 3}, DType::BF16}, {"a", {4}, DType::F64}}));
  ASSERT_EQ(folder.tensors().size(), 2u);
  EXPECT_EQ(folder.tensors()[0].entry.name, "a");
  EXPECT_EQ(folder.tensors()[1].typeText(), "2x3 BF16");
  EXPECT_EQ(folder.tensorBytes(), 4 * 8 + 6 * 2);
  EXPECT_EQ(folder.config(), "");
  EXPECT_EQ(folder.find("c"), nullptr);
}

/// A folder of two files with an index, and the index's text.
class Sharded : public ::testing::Test {
protected:
  void SetUp() override {
    std::filesystem::create_directories(path);
    writeWeights(path + "/model-00001-of-00002.safetensors", {{"a", {4}}});
    writeWeights(path + "/model-00002-of-00002.safetensors", {{"b", {2}, DType::F32, 10}});
    setIndex(index);
  }
  void setIndex(const std::string &text) {
    checkpoint::writeText(path + "/model.safetensors.index.json", text);
  }

  TestFolder scratch;
  const std::string path = scratch / "hf";
  const std::string index = R"({"metadata": {"total_size": 24},
    "weight_map": {"a": "model-00001-of-00002.safetensors", "b": "model-00002-of-00002.safetensors"}})";
};

TEST_F(Sharded, FindsEachTensorInItsFile) {
  const HuggingFaceFolder folder = openFolder(path);
  ASSERT_EQ(folder.tensors().size(), 2u);
  EXPECT_EQ(folder.fileOf(*folder.find("b")), path + "/model-00002-of-00002.safetensors");
  float values[2] = {};
  ASSERT_TRUE(
      folder.readFloats(*folder.find("b"), 0, 2, DType::F32, std::as_writable_bytes(std::span(values)).data())
          .ok());
  EXPECT_THAT(values, ::testing::ElementsAre(10, 11));
}

TEST_F(Sharded, TheIndexMustAgreeWithTheFiles) {
  setIndex("[1]");
  EXPECT_THAT(problem(path), HasSubstr("expected a JSON object with 'weight_map'"));
  setIndex("{\"weight_map\": {\"a\": \"../x\"}}");
  EXPECT_THAT(problem(path),
              HasSubstr("tensor 'a': expected the name of a file in this folder, got \"../x\""));
  setIndex("{\"weight_map\": {\"a\": 1}}");
  EXPECT_THAT(problem(path), HasSubstr("tensor 'a': expected the name of a file in this folder, got 1"));
  setIndex(checkpoint::replaced(index, "\"b\"", "\"c\""));
  EXPECT_THAT(problem(path), HasSubstr("it holds tensor 'b', which " + path +
                                       "/model.safetensors.index.json does not name"));
  setIndex(checkpoint::replaced(index, "\"b\":", "\"c\": \"model-00001-of-00002.safetensors\", \"b\":"));
  EXPECT_THAT(problem(path), HasSubstr("tensor 'c' is not in model-00001-of-00002.safetensors as it says"));
  setIndex(checkpoint::replaced(index, "model-00002", "model-00003"));
  EXPECT_THAT(problem(path),
              HasSubstr("model-00003-of-00002.safetensors: cannot open: No such file or directory"));
}

TEST_F(Sharded, OneFileBesideAnIndexIsRefused) {
  writeWeights(path + "/model.safetensors", {{"a", {4}}});
  EXPECT_THAT(problem(path), HasSubstr("nothing says which of them is the model"));
}

TEST(HuggingFaceFolder, SaysWhatIsMissing) {
  TestFolder scratch;
  EXPECT_THAT(problem(scratch / "nowhere"), HasSubstr("cannot list the folder: No such file or directory"));
  EXPECT_THAT(problem(scratch.path()),
              HasSubstr("neither model.safetensors nor model.safetensors.index.json is there"));
  checkpoint::writeText(scratch / "pytorch_model.bin", "");
  EXPECT_THAT(problem(scratch.path()), HasSubstr("Its weights are pickled: load them with transformers"));
}

TEST(HuggingFaceFolder, FollowsTheLinksOfTheHubsCache) {
  TestFolder scratch;
  makeFolder(scratch, {{"a", {4}}}, "blobs");
  std::filesystem::create_directories(scratch / "snapshot");
  std::filesystem::create_symlink(scratch / "blobs/model.safetensors",
                                  scratch / "snapshot/model.safetensors");
  EXPECT_EQ(openFolder(scratch / "snapshot").tensors().size(), 1u);
}

TEST(HuggingFaceFolder, IsTakenForOneByItsFiles) {
  TestFolder scratch;
  EXPECT_FALSE(isHuggingFaceFolder(scratch.path()));
  EXPECT_TRUE(isHuggingFaceFolder(makeFolder(scratch, {{"a", {4}}})));
  checkpoint::writeText(scratch / "hf/manifest.json", "");
  EXPECT_FALSE(isHuggingFaceFolder(scratch / "hf"));
}

TEST(HuggingFaceFolder, ReadsAnyRangeAsAnyFloat) {
  TestFolder scratch;
  const HuggingFaceFolder folder = openFolder(makeFolder(scratch, {{"a", {200000}, DType::F64}}));
  std::vector<float> values(150000);
  const auto changes = folder.readFloats(*folder.find("a"), 1000, 150000, DType::F32,
                                         std::as_writable_bytes(std::span(values)).data());
  ASSERT_TRUE(changes.ok()) << changes.status();
  EXPECT_EQ(changes->rounded, 0);
  for (size_t i = 0; i < values.size(); ++i)
    ASSERT_EQ(values[i], static_cast<float>(i + 1000));
}

} // namespace
} // namespace weft::interchange
