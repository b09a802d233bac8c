//===- FamilyTest.cpp - A config.json of each family ----------------------===//
//
// What transformers 4 and 5 write for each family, what both leave out, and what a family refuses.
//
//===----------------------------------------------------------------------===//
#include "ConfigTestSupport.h"
#include "runtime/config/ModelFamilies.h"

#include "absl/strings/str_cat.h"

namespace weft {
namespace {

using testing::HasSubstr;

/// A run whose `model` has these keys beside the sizes that all families need.
absl::StatusOr<LoadedConfig> loadFamily(const std::string &family, const std::string &keys) {
  return loadText(
      absl::StrCat("model: {model_type: ", family,
                   ", hidden_size: 64, num_hidden_layers: 4, num_attention_heads: 32, intermediate_size: 8, "
                   "vocab_size: 300",
                   keys.empty() ? "" : ", ", keys,
                   "}\n"
                   "data: {train: [{path: a}], sequence_length: 8}\noptimizer: {lr: 1}\n"
                   "train: {steps: 1, micro_batch: 1, global_batch: 1}\n"));
}

ModelConfig modelOf(const std::string &family, const std::string &keys = "") {
  absl::StatusOr<LoadedConfig> loaded = loadFamily(family, keys);
  EXPECT_TRUE(loaded.ok()) << loaded.status();
  if (!loaded.ok())
    return {};
  EXPECT_THAT(loaded->warnings, testing::IsEmpty());
  // What a run folder stores is the same run.
  absl::StatusOr<LoadedConfig> again = loadText(loaded->resolvedYaml());
  EXPECT_TRUE(again.ok()) << again.status();
  if (again.ok())
    EXPECT_EQ(again->config, loaded->config);
  return loaded->config.model;
}

std::vector<int64_t> windowsOf(const ModelConfig &model) {
  std::vector<int64_t> windows;
  for (int64_t layer = 0; layer < model.numHiddenLayers; ++layer)
    windows.push_back(model.layerWindow(layer));
  return windows;
}

using Windows = std::vector<int64_t>;

TEST(Families, TheTableIsInTheOrderOfTheEnumeration) {
  for (size_t index = 0; index < modelFamilies().size(); ++index)
    EXPECT_EQ(static_cast<size_t>(modelFamilies()[index].family), index);
}

TEST(Families, EveryDefaultIsOfAKeyThatTheFamilyTakes) {
  for (const FamilyTraits &traits : modelFamilies())
    for (const FamilyValue &value : traits.defaults)
      EXPECT_TRUE(traits.takes(value.key) || familiesWith(value.key).empty())
          << traits.name << " " << value.key;
}

TEST(Families, MistralHasAWindow) {
  ModelConfig model = modelOf("mistral");
  EXPECT_EQ(model.numKeyValueHeads, 8) << "transformers' default";
  EXPECT_EQ(model.maxPositionEmbeddings, 131072);
  EXPECT_EQ(windowsOf(model), (Windows{4096, 4096, 4096, 4096}));
  EXPECT_EQ(windowsOf(modelOf("mistral", "sliding_window: null")), (Windows{0, 0, 0, 0})) << "v0.2 and later";
}

TEST(Families, WhereAValueComesFromIsShown) {
  absl::StatusOr<LoadedConfig> loaded = loadFamily("mistral", "");
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_THAT(loaded->resolvedYaml(),
              HasSubstr("  sliding_window: 4096                            # default of mistral\n"));
  loaded = loadText("model: {family: mistral, hidden_size: 64, num_hidden_layers: 1, num_attention_heads: 4, "
                    "intermediate_size: 8, vocab_size: 300}\n"
                    "data: {train: [{path: a}], sequence_length: 8}\noptimizer: {lr: 1}\n"
                    "train: {steps: 1, micro_batch: 1, global_batch: 1}\n");
  EXPECT_EQ(errorOf(loaded), "default of mistral: model.num_key_value_heads: 8 does not divide "
                             "num_attention_heads (4). Works: 1, 2, 4.");
}

TEST(Families, Qwen2SlidesInUpperLayersIfItSlides) {
  EXPECT_EQ(windowsOf(modelOf("qwen2")), (Windows{0, 0, 0, 0}));
  EXPECT_EQ(windowsOf(modelOf("qwen2", "sliding_window: 32768, max_window_layers: 2")),
            (Windows{0, 0, 0, 0}));
  EXPECT_EQ(windowsOf(modelOf("qwen2", "use_sliding_window: true, sliding_window: 5, max_window_layers: 3")),
            (Windows{0, 0, 0, 5}));
  EXPECT_EQ(
      windowsOf(modelOf("qwen2", "use_sliding_window: true, sliding_window: 5, layer_types: "
                                 "[sliding_attention, full_attention, full_attention, full_attention]")),
      (Windows{5, 0, 0, 0}))
      << "transformers 5 says which";
}

TEST(Families, Qwen3HasAHeadOfItsOwnWidth) {
  ModelConfig model = modelOf("qwen3", "attention_bias: true");
  EXPECT_EQ(model.headDim, 128);
  EXPECT_TRUE(model.attentionBias);
  EXPECT_EQ(windowsOf(model), (Windows{0, 0, 0, 0}));
}

TEST(Families, Gemma2SlidesInEverySecondLayer) {
  ModelConfig model =
      modelOf("gemma2", "hidden_act: gelu_pytorch_tanh, hidden_activation: gelu_pytorch_tanh, "
                        "cache_implementation: hybrid");
  EXPECT_EQ(windowsOf(model), (Windows{4096, 0, 4096, 0}));
  EXPECT_EQ(model.numKeyValueHeads, 4);
  EXPECT_EQ(model.headDim, 256);
  EXPECT_EQ(model.hiddenAct, HiddenAct::GeluPytorchTanh);
  EXPECT_EQ(model.attnLogitSoftcapping, 50);
  EXPECT_EQ(model.finalLogitSoftcapping, 30);
  EXPECT_EQ(model.queryPreAttnScalar, 256);
  EXPECT_TRUE(model.tieWordEmbeddings);
  model = modelOf("gemma2", "attn_logit_softcapping: null, final_logit_softcapping: null");
  EXPECT_EQ(model.attnLogitSoftcapping, 0);
  EXPECT_EQ(model.finalLogitSoftcapping, 0);
  EXPECT_THAT(errorOf(loadFamily("gemma2", "use_bidirectional_attention: true")),
              HasSubstr("model.use_bidirectional_attention: this feature is not supported"));
}

TEST(Families, Gemma3InTheSpellingsOfTransformers4And5) {
  ModelConfig old = modelOf("gemma3_text", "rope_theta: 1000000, rope_local_base_freq: 10000, "
                                           "rope_scaling: {factor: 8, rope_type: linear}, "
                                           "sliding_window: 512, sliding_window_pattern: 3");
  EXPECT_EQ(windowsOf(old), (Windows{512, 512, 0, 512}));
  EXPECT_EQ(old.ropeTheta, 1e6);
  EXPECT_EQ(old.ropeLocalBaseFreq, 1e4);
  EXPECT_EQ(old.ropeScaling.ropeType, RopeType::Linear);
  ModelConfig current = modelOf(
      "gemma3_text", "rope_parameters: {full_attention: {rope_theta: 1000000, factor: 8, rope_type: linear}, "
                     "sliding_attention: {rope_theta: 10000, rope_type: default}}, sliding_window: 512, "
                     "_sliding_window_pattern: 3, layer_types: [sliding_attention, sliding_attention, "
                     "full_attention, sliding_attention]");
  EXPECT_EQ(current, old);
  EXPECT_EQ(windowsOf(modelOf("gemma3_text")), (Windows{4096, 4096, 4096, 4096})) << "five of six";
  EXPECT_THAT(errorOf(loadFamily("gemma3_text", "rope_parameters: {full_attention: {}, sliding_attention: "
                                                "{rope_theta: 10000, rope_type: linear, factor: 2}}")),
              HasSubstr("model.rope_scaling.sliding_attention.rope_type: sliding layers rotate by their base "
                        "alone."));
  EXPECT_THAT(errorOf(loadFamily("gemma3_text", "attn_logit_softcapping: 50")),
              HasSubstr("the family gemma3_text has no such key"))
      << "transformers passes over it";
  EXPECT_EQ(
      errorOf(loadFamily("gemma3", "text_config: {}")),
      "run.yaml:1: model.family: gemma3 is a model of images and text. Works: gemma3_text, with the keys "
      "of its text_config under model.");
}

TEST(Families, Olmo2HasItsOwnEpsilon) {
  EXPECT_EQ(modelOf("olmo2").rmsNormEps, 1e-5);
  EXPECT_EQ(modelOf("olmo2").numKeyValueHeads, 32) << "null is transformers' default";
}

TEST(Families, Gpt2InItsOwnNames) {
  const std::string rest = "vocab_size: 300, attn_pdrop: 0}\n"
                           "data: {train: [{path: a}], sequence_length: 8}\noptimizer: {lr: 1}\n"
                           "train: {steps: 1, micro_batch: 1, global_batch: 1}\n";
  absl::StatusOr<LoadedConfig> loaded =
      loadText("model: {model_type: gpt2, n_embd: 12, n_layer: 2, n_head: 4, n_positions: 16, n_ctx: 16, "
               "n_inner: null, activation_function: gelu_new, reorder_and_upcast_attn: true, summary_type: "
               "cls_index, task_specific_params: {a: {b: 1}}, scale_attn_by_inverse_layer_idx: true, " +
               rest);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  const ModelConfig &model = loaded->config.model;
  EXPECT_EQ(model.hiddenSize, 12);
  EXPECT_EQ(model.numHiddenLayers, 2);
  EXPECT_EQ(model.headDim, 3) << "odd, which only rotary embedding minds";
  EXPECT_EQ(model.intermediateSize, 48);
  EXPECT_EQ(model.maxPositionEmbeddings, 16);
  EXPECT_EQ(model.hiddenAct, HiddenAct::GeluPytorchTanh);
  EXPECT_EQ(model.residPdrop, 0.1);
  EXPECT_EQ(model.embdPdrop, 0.1);
  EXPECT_TRUE(model.tieWordEmbeddings);
  EXPECT_TRUE(model.scaleAttnByInverseLayerIdx);
  EXPECT_THAT(errorOf(loadFamily("gpt2", "")), HasSubstr("default of gpt2: model.attention_dropout: the "
                                                         "attention kernel has no dropout"));
  EXPECT_THAT(errorOf(loadFamily("gpt2", "attn_pdrop: 0, rope_theta: 5")),
              HasSubstr("the family gpt2 has no such key (got 5)"));
}

TEST(Families, LayerTypesMustFit) {
  EXPECT_EQ(
      errorOf(loadFamily("qwen2", "layer_types: [full_attention]")),
      "run.yaml:1: model.layer_types: names 1 layers, and num_hidden_layers is 4. Works: a list of 4, or "
      "null: the family's pattern.");
  EXPECT_EQ(errorOf(loadFamily("qwen2", "layer_types: [full_attention, chunked_attention, full_attention, "
                                        "full_attention]")),
            "run.yaml:1: model.layer_types: layer 1 is \"chunked_attention\". Works: full_attention, "
            "sliding_attention.");
  EXPECT_THAT(errorOf(loadFamily("qwen2", "layer_types: [sliding_attention, full_attention, full_attention, "
                                          "full_attention]")),
              HasSubstr("has sliding layers, and use_sliding_window is false."));
}

TEST(Families, AKeyOfAnotherFamilyMaySayThatItIsOff) {
  EXPECT_FALSE(modelOf("qwen2", "mlp_bias: false").mlpBias);
  EXPECT_EQ(modelOf("llama", "sliding_window: null, use_sliding_window: false").slidingWindow, 0);
  EXPECT_EQ(errorOf(loadFamily("mistral", "attention_bias: true")),
            "run.yaml:1: model.attention_bias: the family mistral has no such key (got true); llama, qwen3, "
            "gemma2, gemma3_text, olmo2 have it. Works: without it.");
}

} // namespace
} // namespace weft
