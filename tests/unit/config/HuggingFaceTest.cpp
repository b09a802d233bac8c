//===- HuggingFaceTest.cpp - The keys of a config.json --------------------===//
//
// model.from, the spellings of old and new transformers, and what is refused because it may be another model.
//
//===----------------------------------------------------------------------===//
#include "tests/unit/TestFolder.h"

#include "ConfigTestSupport.h"

#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace weft {

using testing::HasSubstr;
using testing::Not;

class HuggingFace : public testing::Test {
protected:
  /// A run whose model is this config.json, with lines beside `from`.
  absl::StatusOr<LoadedConfig> load(const std::string &json, const std::string &beside = "") {
    folder.write("config.json", json);
    return loadConfigText("model:\n  from: config.json\n" + beside +
                              "data: {train: [{path: a}], sequence_length: 8}\n"
                              "optimizer: {lr: 1}\n"
                              "train: {steps: 1, micro_batch: 1, global_batch: 1}\n",
                          "run.yaml", folder.path());
  }

  TestFolder folder;
};

static constexpr char llama32[] = R"({
  "architectures": ["LlamaForCausalLM"],
  "attention_bias": false,
  "attention_dropout": 0.0,
  "bos_token_id": 128000,
  "eos_token_id": [128001, 128008],
  "head_dim": 64,
  "hidden_act": "silu",
  "hidden_size": 2048,
  "initializer_range": 0.02,
  "intermediate_size": 8192,
  "max_position_embeddings": 131072,
  "mlp_bias": false,
  "model_type": "llama",
  "num_attention_heads": 32,
  "num_hidden_layers": 16,
  "num_key_value_heads": 8,
  "pretraining_tp": 1,
  "rms_norm_eps": 1e-05,
  "rope_scaling": {
    "factor": 32.0,
    "high_freq_factor": 4.0,
    "low_freq_factor": 1.0,
    "original_max_position_embeddings": 8192,
    "rope_type": "llama3"
  },
  "rope_theta": 500000.0,
  "tie_word_embeddings": true,
  "torch_dtype": "bfloat16",
  "transformers_version": "4.45.0",
  "use_cache": true,
  "vocab_size": 128256
})";

TEST_F(HuggingFace, ConfigJsonOfLlama32) {
  absl::StatusOr<LoadedConfig> loaded = load(llama32);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  const ModelConfig &model = loaded->config.model;
  EXPECT_EQ(model.hiddenSize, 2048);
  EXPECT_EQ(model.numKeyValueHeads, 8);
  EXPECT_EQ(model.headDim, 64);
  EXPECT_EQ(model.rmsNormEps, 1e-5);
  EXPECT_EQ(model.ropeTheta, 500000.0);
  EXPECT_TRUE(model.tieWordEmbeddings);
  EXPECT_EQ(model.ropeScaling.ropeType, RopeType::Llama3);
  EXPECT_EQ(model.ropeScaling.factor, 32.0);
  EXPECT_EQ(model.ropeScaling.originalMaxPositionEmbeddings, 8192);
  EXPECT_THAT(loaded->warnings, testing::IsEmpty());
}

TEST_F(HuggingFace, OriginsNameTheLinesOfTheFile) {
  absl::StatusOr<LoadedConfig> loaded = load(llama32);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  std::string text = loaded->resolvedYaml();
  EXPECT_THAT(text, HasSubstr("  hidden_size: 2048                               # config.json:9\n"));
  EXPECT_THAT(text, HasSubstr("    factor: 32                                    # config.json:21\n"));
  EXPECT_THAT(text, Not(HasSubstr("from:"))) << "the resolved run needs no other file";
}

TEST_F(HuggingFace, KeysBesideFromWin) {
  absl::StatusOr<LoadedConfig> loaded =
      load(llama32, "  num_hidden_layers: 2\n  rope_scaling: {factor: 2}\n  vocab_size: 300\n");
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(loaded->config.model.numHiddenLayers, 2);
  EXPECT_EQ(loaded->config.model.vocabSize, 300);
  EXPECT_EQ(loaded->config.model.ropeScaling.factor, 2);
  EXPECT_EQ(loaded->config.model.ropeScaling.ropeType, RopeType::Llama3);
}

TEST_F(HuggingFace, NullScalingBesideFromTurnsItOff) {
  absl::StatusOr<LoadedConfig> loaded = load(llama32, "  rope_scaling: null\n");
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(loaded->config.model.ropeScaling.ropeType, RopeType::Default);
}

static std::string withLine(const std::string &line) {
  return "{\"model_type\": \"llama\", \"hidden_size\": 64, \"num_hidden_layers\": 1, "
         "\"num_attention_heads\": 4,\n"
         " \"intermediate_size\": 64, \"vocab_size\": 300,\n" +
         line + "}";
}

TEST_F(HuggingFace, NewSpellingOfRopeParameters) {
  absl::StatusOr<LoadedConfig> loaded = load(withLine(
      R"("rope_parameters": {"rope_type": "yarn", "rope_theta": 1000000, "factor": 4.0, "attention_factor": null})"));
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(loaded->config.model.ropeTheta, 1000000);
  EXPECT_EQ(loaded->config.model.ropeScaling.ropeType, RopeType::Yarn);
  EXPECT_EQ(loaded->config.model.ropeScaling.originalMaxPositionEmbeddings, 2048);
  EXPECT_EQ(loaded->config.model.ropeScaling.attentionFactor, std::nullopt);
}

TEST_F(HuggingFace, OldSpellingOfTheScalingType) {
  absl::StatusOr<LoadedConfig> loaded =
      load(withLine(R"("rope_scaling": {"type": "linear", "factor": 2.0})"));
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(loaded->config.model.ropeScaling.ropeType, RopeType::Linear);
}

TEST_F(HuggingFace, FeaturesThatAreOffPass) {
  absl::StatusOr<LoadedConfig> loaded = load(withLine(
      R"("sliding_window": null, "partial_rotary_factor": 1.0, "rope_scaling": null, "unheard_of": null)"));
  EXPECT_TRUE(loaded.ok()) << loaded.status();
}

TEST_F(HuggingFace, WhatMayChangeTheModelIsRefused) {
  EXPECT_EQ(errorOf(load(withLine("\"sliding_window\": 4096"))),
            "config.json:3: model.sliding_window: the family llama has no such key (got 4096); mistral, "
            "qwen2, qwen3, gemma2, gemma3_text have it. Works: without it.");
  EXPECT_EQ(errorOf(load(withLine("\"partial_rotary_factor\": 0.5"))),
            "config.json:3: model.partial_rotary_factor: this feature is not supported (got 0.5). Works: 1, "
            "which is "
            "another model.");
  EXPECT_THAT(errorOf(load(withLine("\"logit_scale\": 2"))),
              HasSubstr("config.json:3: model.logit_scale: no such key."));
  EXPECT_EQ(errorOf(load(withLine("\"rope_scaling\": {\"rope_type\": \"dynamic\", \"factor\": 2}"))),
            "config.json:3: model.rope_scaling.rope_type: no such choice: the text \"dynamic\". Works: "
            "default, linear, "
            "llama3, yarn.");
  EXPECT_EQ(errorOf(load("{\"model_type\": \"mixtral\"}")),
            "config.json:1: model.family: no such choice: the text \"mixtral\". Did you mean mistral? Works: "
            "llama, "
            "mistral, qwen2, qwen3, gemma2, gemma3_text, olmo2, gpt2.");
}

TEST_F(HuggingFace, TwoSpellingsOfOneKeyAreRefused) {
  EXPECT_EQ(errorOf(loadSmall({"model.model_type=llama"})),
            "--set: model.model_type: is the same key as family, given at run.yaml:1. Keep one.");
  EXPECT_EQ(errorOf(load(withLine("\"rope_theta\": 1e4, \"rope_parameters\": {\"rope_theta\": 1e4}"))),
            "config.json:3: model.rope_scaling.rope_theta: is the same key as model.rope_theta, given at "
            "config.json:3. "
            "Keep one.");
}

TEST_F(HuggingFace, BrokenFiles) {
  EXPECT_EQ(errorOf(load("{\n\"a\": 1,\n\"a\": 2}")), "config.json:3: the key a is given twice. Keep one.");
  EXPECT_THAT(errorOf(load("{\n\"a\": 1,\n")), HasSubstr("config.json:3: not valid JSON: "));
  EXPECT_EQ(errorOf(load("[]")),
            "run.yaml:2: model.from: expected a Hugging Face config.json (a map), got a list.");
  EXPECT_THAT(errorOf(load(std::string(1000, '['))),
              HasSubstr("config.json:1: nested deeper than 16 levels."));
  EXPECT_EQ(errorOf(loadText("model: {from: none.json}\n")).substr(0, 80),
            "run.yaml:1: model.from: /runs/none.json: cannot be opened: No such file or direc");
  EXPECT_EQ(errorOf(loadText("model: {from: [a]}\n")).substr(0, 52),
            "run.yaml:1: model.from: expected a path, got a list.");
}

} // namespace weft
