//===- FolderParametersTest.cpp - Foreign weights as a program's -----------===//
#include "tests/unit/interchange/Folders.h"

namespace weft::interchange {
namespace {
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Parameters kTied = {{"model.embed_tokens.weight", {DType::F32, {6, 4}}},
                          {"model.layers.0.self_attn.q_proj.weight", {DType::F32, {2, 3, 4}}},
                          {"model.norm.weight", {DType::F32, {4}}}};

std::vector<Tensor> tiedTensors() {
  return {{"model.embed_tokens.weight", {6, 4}},
          {"model.layers.0.self_attn.q_proj.weight", {6, 4}, DType::F32, 100},
          {"model.norm.weight", {4}, DType::F32, 200}};
}

absl::StatusOr<FolderParameters> match(const std::vector<Tensor> &tensors, const Parameters &parameters) {
  TestFolder scratch;
  return FolderParameters::match(openFolder(makeFolder(scratch, tensors)), parameters); // its file stays open
}

std::string problem(const std::vector<Tensor> &tensors, const Parameters &parameters) {
  return std::string(match(tensors, parameters).status().message());
}

TEST(FolderParameters, AreReshapedAndNothingElse) {
  const absl::StatusOr<FolderParameters> source = match(tiedTensors(), kTied);
  ASSERT_TRUE(source.ok()) << source.status();
  EXPECT_THAT(source->notes(), ElementsAre());
  const std::vector<float> values = valuesOf(*source, "model.layers.0.self_attn.q_proj.weight");
  for (size_t i = 0; i < values.size(); ++i)
    EXPECT_EQ(values[i], 100 + static_cast<float>(i));
}

TEST(FolderParameters, ATransposedMatrixIsRefused) {
  std::vector<Tensor> tensors = tiedTensors();
  tensors[1].shape = {4, 6};
  EXPECT_THAT(problem(tensors, kTied),
              HasSubstr("1 tensor differs:\n  model.layers.0.self_attn.q_proj.weight: "
                        "tensor<2x3x4xf32> in the model, 4x6 F32 in the folder\n"
                        "Take the model from the folder (model: {from: "));
}

TEST(FolderParameters, AllDifferencesAreToldAtOnce) {
  std::vector<Tensor> tensors = tiedTensors();
  tensors[2].name = "model.layers.0.self_attn.q_norm.weight";
  const std::string text = problem(tensors, kTied);
  EXPECT_THAT(text, HasSubstr("2 tensors differ:"));
  EXPECT_THAT(text,
              HasSubstr("model.layers.0.self_attn.q_norm.weight: absent in the model, 4 F32 in the folder"));
  EXPECT_THAT(text, HasSubstr("model.norm.weight: tensor<4xf32> in the model, absent in the folder"));
}

TEST(FolderParameters, OtherFloatsBecomeTheParametersType) {
  std::vector<Tensor> tensors = tiedTensors();
  tensors[0].type = DType::BF16;
  tensors[1].type = DType::F16;
  tensors[2].type = DType::F64;
  const absl::StatusOr<FolderParameters> source = match(tensors, kTied);
  ASSERT_TRUE(source.ok()) << source.status();
  EXPECT_THAT(source->notes(),
              ElementsAre("1 tensor: bf16 becomes f32, exactly", "1 tensor: f16 becomes f32, exactly",
                          "1 tensor: f64 becomes f32, rounded to the nearest value"));
  EXPECT_THAT(valuesOf(*source, "model.norm.weight"), ElementsAre(200, 201, 202, 203));
}

TEST(FolderParameters, IntegersAreNoWeights) {
  std::vector<Tensor> tensors = tiedTensors();
  TestFolder scratch;
  std::filesystem::create_directories(scratch / "hf");
  std::vector<checkpoint::SafetensorsEntry> entries;
  for (const Tensor &tensor : tensors)
    entries.push_back({tensor.name, SafetensorsType::I8, tensor.shape, 0, 0});
  auto writer = checkpoint::SafetensorsWriter::create(checkpoint::systemFiles(),
                                                      scratch / "hf/model.safetensors", entries, {});
  ASSERT_TRUE(writer.ok());
  for (const auto &entry : writer->entries())
    ASSERT_TRUE(writer->write(std::vector<std::byte>(static_cast<size_t>(entry.end - entry.begin))).ok());
  ASSERT_TRUE(writer->finish().ok());
  EXPECT_THAT(
      std::string(FolderParameters::match(openFolder(scratch / "hf"), kTied).status().message()),
      HasSubstr("model.norm.weight: tensor<4xf32> in the model, 4 I8 in the folder. Read are F64, F32, F16 "
                "and BF16: save it unquantized"));
}

TEST(FolderParameters, AHeadThatIsTheEmbeddingIsLeftOut) {
  std::vector<Tensor> tensors = tiedTensors();
  tensors.push_back({"lm_head.weight", {6, 4}});
  const absl::StatusOr<FolderParameters> source = match(tensors, kTied);
  ASSERT_TRUE(source.ok()) << source.status();
  EXPECT_THAT(
      source->notes(),
      ElementsAre("lm_head.weight is model.embed_tokens.weight once more, bit for bit, and the model ties "
                  "them: it is left out"));
  tensors.back().first = 1;
  EXPECT_THAT(problem(tensors, kTied),
              HasSubstr("lm_head.weight: the model ties it to its embedding, 6x4 F32 in the "
                        "folder, and not the embedding's bits. Set "
                        "model.tie_word_embeddings: false"));
}

TEST(FolderParameters, AMissingHeadPointsAtTheTie) {
  Parameters parameters = kTied;
  parameters.emplace_back("lm_head.weight", TensorType{DType::F32, {6, 4}});
  EXPECT_THAT(problem(tiedTensors(), parameters), HasSubstr("set model.tie_word_embeddings: true"));
}

TEST(FolderParameters, APaddedVocabularyEndsInZeros) {
  Parameters parameters = kTied;
  parameters[0].second.shape = {8, 4};
  parameters.emplace_back("lm_head.weight", TensorType{DType::F32, {8, 4}});
  std::vector<Tensor> tensors = tiedTensors();
  tensors.push_back({"lm_head.weight", {6, 4}, DType::F32, 50});
  const absl::StatusOr<FolderParameters> source = match(tensors, parameters);
  ASSERT_TRUE(source.ok()) << source.status();
  EXPECT_THAT(source->notes(),
              ElementsAre("the vocabulary has 6 rows in the folder and 8 in the model: the others are 0"));
  const std::vector<float> head = valuesOf(*source, "lm_head.weight");
  for (size_t i = 0; i < head.size(); ++i)
    EXPECT_EQ(head[i], i < 24 ? 50 + static_cast<float>(i) : 0);
  tensors.back().shape = {7, 4};
  EXPECT_THAT(problem(tensors, parameters), HasSubstr("different numbers of rows in the folder: 6 and 7"));
}

TEST(FolderParameters, ALargerVocabularyIsNotCut) {
  std::vector<Tensor> tensors = tiedTensors();
  tensors[0].shape = {9, 4};
  EXPECT_THAT(problem(tensors, kTied), HasSubstr("Set model.vocab_size: 9 or more"));
}

TEST(FolderParameters, OnlyTheVocabularyIsPadded) {
  std::vector<Tensor> tensors = tiedTensors();
  tensors[1].shape = {3, 4};
  EXPECT_THAT(problem(tensors, kTied), HasSubstr("q_proj.weight: tensor<2x3x4xf32> in the model, 3x4 F32"));
}

TEST(FolderParameters, KnownBuffersAreLeftOutByName) {
  std::vector<Tensor> tensors = tiedTensors();
  tensors.push_back({"model.layers.0.self_attn.rotary_emb.inv_freq", {2}});
  const absl::StatusOr<FolderParameters> source = match(tensors, kTied);
  ASSERT_TRUE(source.ok()) << source.status();
  EXPECT_THAT(source->notes(), ElementsAre("left out, since they follow from the config: "
                                           "model.layers.0.self_attn.rotary_emb.inv_freq"));
}

TEST(FolderParameters, ABaseModelLacksThePrefix) {
  std::vector<Tensor> tensors = tiedTensors();
  for (Tensor &tensor : tensors)
    tensor.name = tensor.name.substr(6);
  const absl::StatusOr<FolderParameters> source = match(tensors, kTied);
  ASSERT_TRUE(source.ok()) << source.status();
  EXPECT_THAT(source->notes(),
              ElementsAre("the folder's names lack 'model.', as those of a base model do: it is put "
                          "before them"));
}

TEST(FolderParameters, SlicesAreThoseOfTheWhole) {
  // 300 x 500 elements, over several stretches; slices of columns, of rows, of both.
  const Parameters parameters = {{"w", {DType::F32, {300, 5, 100}}}};
  for (DType type : {DType::F32, DType::F64}) {
    const absl::StatusOr<FolderParameters> source = match({{"w", {300, 500}, type}}, parameters);
    ASSERT_TRUE(source.ok()) << source.status();
    for (const checkpoint::Slice &slice :
         {checkpoint::Slice{{0, 0, 0}, {300, 5, 100}}, checkpoint::Slice{{0, 2, 0}, {300, 1, 100}},
          checkpoint::Slice{{299, 4, 97}, {1, 1, 3}}, checkpoint::Slice{{7, 0, 50}, {201, 5, 50}},
          checkpoint::Slice{{5, 0, 0}, {0, 5, 100}}}) {
      const std::vector<int64_t> memory = {slice.size[0] + 1, slice.size[1], slice.size[2] + 2};
      std::vector<float> values(static_cast<size_t>(elementsOf(memory)), -1);
      const absl::Status status =
          source->readSlice("w", slice, memory, std::as_writable_bytes(std::span(values)));
      ASSERT_TRUE(status.ok()) << status;
      for (int64_t at = 0; at < elementsOf(memory); ++at) {
        const int64_t z = at % memory[2], y = at / memory[2] % memory[1], x = at / memory[2] / memory[1];
        const bool inside = x < slice.size[0] && y < slice.size[1] && z < slice.size[2];
        const int64_t index = ((x + slice.offset[0]) * 5 + y + slice.offset[1]) * 100 + z + slice.offset[2];
        ASSERT_EQ(values[static_cast<size_t>(at)], inside ? static_cast<float>(index) : -1)
            << slice.str() << " " << at;
      }
    }
  }
}

TEST(FolderParameters, WhatBecomesInfiniteIsAnError) {
  const Parameters parameters = {{"w", {DType::F32, {3}}}};
  TestFolder scratch;
  const std::string path = makeFolder(scratch, {{"w", {3}, DType::F64}});
  const std::vector<double> values = {1, 2, 1e300};
  std::string text = checkpoint::readText(path + "/model.safetensors");
  std::memcpy(text.data() + text.size() - 24, values.data(), 24);
  checkpoint::writeText(path + "/model.safetensors", text);
  const absl::StatusOr<FolderParameters> source = FolderParameters::match(openFolder(path), parameters);
  ASSERT_TRUE(source.ok()) << source.status();
  float read[3];
  EXPECT_THAT(
      std::string(source->read(0, 0, 3, std::as_writable_bytes(std::span(read)).data()).status().message()),
      HasSubstr("tensor 'w', element 2: too large for f32"));
}

} // namespace
} // namespace weft::interchange
