//===- ExportFolderTest.cpp - A checkpoint becomes a Hugging Face folder ---===//
#include "tests/unit/interchange/Folders.h"

#include "runtime/config/ConfigLoader.h"
#include "runtime/config/HuggingFaceConfig.h"
#include "runtime/interchange/ExportFolder.h"
#include "runtime/support/ExitCode.h"

#include <nlohmann/json.hpp>

#include <numeric>

namespace weft::interchange {
namespace {
using checkpoint::Checkpoint;
using checkpoint::FaultySystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A checkpoint of a tiny model, with state of its optimizer.
class Export : public ::testing::Test {
protected:
  void SetUp() override {
    std::filesystem::create_directories(scratch / "out");
    std::iota(embedding.begin(), embedding.end(), 0.0f);
    embedding[5] = 1.0f + 0x1p-9f; // no bf16
    checkpoint::CheckpointState state;
    state.step = 7;
    const std::vector<checkpoint::TensorView> views = {
        {"model.embed_tokens.weight", {DType::F32, {6, 4}}, embedding.data(), {}},
        {"model.layers.0.self_attn.q_proj.weight", {DType::F32, {2, 3, 4}}, embedding.data(), {}},
        {"model.norm.weight", {DType::F32, {4}}, embedding.data(), {}},
        {"optimizer.first_moment.model.norm.weight", {DType::F32, {4}}, embedding.data(), {}},
        {"optimizer.step", {DType::I64, {}}, &state.step, {}}};
    ASSERT_TRUE(checkpoint::saveCheckpoint(scratch / "run", state, views).ok());
    request.output = output;
    ModelConfig &model = request.config.model;
    model.hiddenSize = 4;
    model.vocabSize = 6;
    model.numHiddenLayers = 1;
    model.numAttentionHeads = 2;
    model.numKeyValueHeads = 1;
    model.headDim = 3;
    model.intermediateSize = 8;
  }
  absl::StatusOr<ExportResult> run() {
    absl::StatusOr<Checkpoint> saved = checkpoint::openCheckpoint(scratch / "run/step-7");
    EXPECT_TRUE(saved.ok()) << saved.status();
    return exportFolder(*saved, request);
  }
  std::vector<float> values(const std::string &name) {
    const HuggingFaceFolder folder = openFolder(output);
    const FolderTensor *tensor = folder.find(name);
    EXPECT_NE(tensor, nullptr) << name;
    std::vector<float> result(static_cast<size_t>(tensor->elements()));
    EXPECT_TRUE(folder
                    .readFloats(*tensor, 0, tensor->elements(), DType::F32,
                                std::as_writable_bytes(std::span(result)).data())
                    .ok());
    return result;
  }
  nlohmann::json config() const {
    return nlohmann::json::parse(checkpoint::readText(output + "/config.json"));
  }

  TestFolder scratch;
  const std::string output = scratch / "out/hf";
  std::vector<float> embedding = std::vector<float>(24);
  ExportRequest request;
};

TEST_F(Export, WritesTheParametersAsTransformersHasThem) {
  const absl::StatusOr<ExportResult> result = run();
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->tensors, 3u);
  EXPECT_EQ(result->files, 1u);
  EXPECT_EQ(result->rounded, 0);
  const HuggingFaceFolder folder = openFolder(output);
  ASSERT_EQ(folder.tensors().size(), 3u); // no state
  EXPECT_EQ(folder.find("model.layers.0.self_attn.q_proj.weight")->typeText(), "6x4 F32");
  EXPECT_EQ(values("model.layers.0.self_attn.q_proj.weight"), embedding);
  EXPECT_EQ(config()["model_type"], "llama");
  EXPECT_EQ(config()["architectures"], nlohmann::json({"LlamaForCausalLM"}));
  EXPECT_EQ(config()["torch_dtype"], "float32");
  EXPECT_EQ(config()["head_dim"], 3);
}

TEST_F(Export, TheConfigReadsBackAsTheSameModel) {
  ModelConfig &model = request.config.model;
  model.rmsNormEps = 1.0 / 3;
  model.ropeScaling = {.ropeType = RopeType::Yarn, .factor = 4, .originalMaxPositionEmbeddings = 512};
  model.ropeScaling.mscale = 0.5;
  ASSERT_TRUE(run().ok());
  const absl::StatusOr<ModelConfig> read = loadModelConfig(output + "/config.json");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(*read, model);
  EXPECT_THAT(modelDifferences(*read, "a", model, "b"), ElementsAre());
  model.ropeTheta = 5e5;
  model.vocabSize = 9;
  EXPECT_THAT(modelDifferences(*read, "a", model, "b"),
              ElementsAre("model.rope_theta is 10000 in a and 500000 in b"));
}

TEST(HuggingFaceConfig, EveryFamilyReadsBackAsItWas) {
  TestFolder scratch;
  size_t families = 0;
  for (const auto &file : std::filesystem::directory_iterator(WEFT_PARITY_FOLDER "/configs")) {
    const absl::StatusOr<LoadedConfig> loaded = loadConfig(file.path().string());
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    const std::string path = scratch / "config.json";
    checkpoint::writeText(path, huggingFaceConfigText(loaded->config.model, "float32"));
    const absl::StatusOr<ModelConfig> read = loadModelConfig(path);
    ASSERT_TRUE(read.ok()) << file.path() << ": " << read.status();
    EXPECT_EQ(*read, loaded->config.model) << file.path() << "\n" << checkpoint::readText(path);
    ++families;
  }
  EXPECT_GE(families, 8u);
}

TEST_F(Export, RoundsToTheNearestEvenWhenAsked) {
  request.dtype = DType::BF16;
  const absl::StatusOr<ExportResult> result = run();
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->rounded, 2); // in the embedding and in q_proj
  EXPECT_EQ(values("model.embed_tokens.weight")[5], 1.0f);
  EXPECT_EQ(values("model.embed_tokens.weight")[4], 4.0f);
  EXPECT_EQ(config()["torch_dtype"], "bfloat16");
}

TEST_F(Export, WhatWouldBecomeInfiniteIsRefused) {
  request.dtype = DType::F16;
  embedding[3] = 70000;
  checkpoint::CheckpointState state;
  state.step = 7;
  ASSERT_TRUE(checkpoint::saveCheckpoint(scratch / "run", state,
                                         {{"model.norm.weight", {DType::F32, {4}}, embedding.data(), {}}})
                  .ok());
  const absl::StatusOr<ExportResult> result = run();
  EXPECT_EQ(exitCodeOf(result.status()), ExitCode::Config);
  EXPECT_THAT(std::string(result.status().message()),
              HasSubstr("--dtype f16: tensor 'model.norm.weight', element 3 is too large for it"));
  EXPECT_FALSE(std::filesystem::exists(output));
}

TEST_F(Export, SeveralFilesHaveAnIndex) {
  request.shardBytes = 24 * 4;
  const absl::StatusOr<ExportResult> result = run();
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->files, 3u);
  EXPECT_THAT(*checkpoint::listFolder(checkpoint::systemFiles(), output),
              ElementsAre("config.json", "model-00001-of-00003.safetensors",
                          "model-00002-of-00003.safetensors", "model-00003-of-00003.safetensors",
                          "model.safetensors.index.json"));
  EXPECT_EQ(openFolder(output).tensorBytes(), result->bytes);
  EXPECT_EQ(values("model.embed_tokens.weight"), embedding);
  const nlohmann::json index =
      nlohmann::json::parse(checkpoint::readText(output + "/model.safetensors.index.json"));
  EXPECT_EQ(index["metadata"]["total_size"], result->bytes);
}

TEST_F(Export, ATensorLargerThanAFileHasAFileOfItsOwn) {
  request.shardBytes = 1;
  const absl::StatusOr<ExportResult> result = run();
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->files, 3u);
}

TEST_F(Export, CutsThePaddingOfTheVocabulary) {
  request.vocabularySize = 5;
  ASSERT_TRUE(run().ok());
  EXPECT_EQ(values("model.embed_tokens.weight"),
            std::vector<float>(embedding.begin(), embedding.begin() + 20));
  EXPECT_EQ(values("model.layers.0.self_attn.q_proj.weight").size(), 24u); // has 6 rows too, of no vocabulary
  EXPECT_EQ(config()["vocab_size"], 5);
}

TEST_F(Export, ACutBeyondTheVocabularyIsRefused) {
  request.vocabularySize = 7;
  EXPECT_THAT(std::string(run().status().message()),
              HasSubstr("--vocab-size: 7, and the model has 6 rows. Works: 1 to 6."));
}

TEST_F(Export, AProgramIsNoModelOfTransformers) {
  request.config.model.program = "/model.mlir";
  EXPECT_THAT(std::string(run().status().message()), HasSubstr("transformers has no model of it"));
}

TEST_F(Export, FailedAtAnyOperationLeavesNothing) {
  request.shardBytes = 24 * 4;
  FaultySystem counting;
  request.files = &counting;
  ASSERT_TRUE(run().ok());
  std::filesystem::remove_all(output);
  for (int64_t at = 0; at < counting.count; ++at) {
    FaultySystem files;
    files.fault = [&](const FaultySystem::Operation &operation) {
      return operation.number == at ? -ENOSPC : 0;
    };
    request.files = &files;
    ASSERT_FALSE(run().ok()) << at;
    const std::vector<std::string> left = *checkpoint::listFolder(checkpoint::systemFiles(), scratch / "out");
    if (at == counting.count - 1) // only the disk's word for the new name was missing
      EXPECT_THAT(left, ElementsAre("hf"));
    else
      EXPECT_THAT(left, ElementsAre()) << "operation " << at;
    std::filesystem::remove_all(output);
  }
}

TEST_F(Export, TheTokenizerGoesAlongWithWhatLiesBesideIt) {
  std::filesystem::create_directories(scratch / "tok");
  for (const char *name : {"mine.json", "tokenizer_config.json", "generation_config.json", "other.json"})
    checkpoint::writeText(scratch / "tok/" + name, name);
  request.copied = tokenizerFiles(scratch / "tok/mine.json");
  request.endOfText = 5;
  ASSERT_TRUE(run().ok());
  EXPECT_THAT(*checkpoint::listFolder(checkpoint::systemFiles(), output),
              ElementsAre("config.json", "generation_config.json", "mine.json", "model.safetensors",
                          "tokenizer_config.json"));
  EXPECT_EQ(checkpoint::readText(output + "/mine.json"), "mine.json");
  EXPECT_EQ(config()["eos_token_id"], 5);
}

TEST_F(Export, EqualCheckpointsGiveEqualBytes) {
  ASSERT_TRUE(run().ok());
  const std::string first = checkpoint::readText(output + "/model.safetensors");
  request.output = scratch / "again";
  ASSERT_TRUE(run().ok());
  EXPECT_EQ(checkpoint::readText(scratch / "again/model.safetensors"), first);
}

} // namespace
} // namespace weft::interchange
