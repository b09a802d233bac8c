//===- ModelFamilies.cpp - The table of families --------------------------===//
//
// Keys and defaults are those of the configuration classes of Hugging Face transformers 5. Sizes without
// which a run file is surely a mistake (hidden_size, num_hidden_layers, ...) stay required, whatever default
// transformers has for them.
//
//===----------------------------------------------------------------------===//
#include "runtime/config/ModelFamilies.h"

#include <algorithm>

namespace weft {

namespace {
using Keys = std::vector<std::string>;

/// The keys of a family with rotary embedding, and more.
Keys rotaryWith(Keys more) {
  Keys keys = {"num_key_value_heads", "rms_norm_eps", "rope_theta", "rope_scaling"};
  keys.insert(keys.end(), more.begin(), more.end());
  return keys;
}

/// Qwen slides from one layer on.
bool slidesAboveMaxWindowLayers(const ModelConfig &model, int64_t layer) {
  return model.useSlidingWindow && layer >= model.maxWindowLayers;
}
bool slidesEverySecond(const ModelConfig &, int64_t layer) { return layer % 2 == 0; }
bool slidesByPattern(const ModelConfig &model, int64_t layer) {
  return (layer + 1) % model.slidingWindowPattern != 0;
}

FamilyTraits llama() {
  return {.family = ModelFamily::Llama,
          .name = "llama",
          .doc = "pre-norm decoder with rotary attention and a gated feed-forward (arXiv:2302.13971)",
          .keys = rotaryWith({"head_dim", "attention_bias", "mlp_bias"}),
          .spellings = {},
          .defaults = {}};
}

FamilyTraits mistral() {
  return {.family = ModelFamily::Mistral,
          .name = "mistral",
          .doc = "llama without biases; attention sees a sliding window (arXiv:2310.06825)",
          .keys = rotaryWith({"head_dim", "sliding_window"}),
          .spellings = {},
          .defaults = {{"num_key_value_heads", "8"},
                       {"max_position_embeddings", "131072"},
                       {"sliding_window", "4096"}}};
}

FamilyTraits qwen2() {
  return {
      .family = ModelFamily::Qwen2,
      .name = "qwen2",
      .doc = "llama with biases on queries, keys and values, and a window in upper layers (arXiv:2412.15115)",
      .keys = rotaryWith(
          {"head_dim", "sliding_window", "use_sliding_window", "max_window_layers", "layer_types"}),
      .spellings = {},
      .defaults = {{"num_key_value_heads", "32"},
                   {"max_position_embeddings", "32768"},
                   {"sliding_window", "4096"}},
      .isSliding = slidesAboveMaxWindowLayers};
}

FamilyTraits qwen3() {
  FamilyTraits traits = qwen2();
  traits.family = ModelFamily::Qwen3;
  traits.name = "qwen3";
  traits.doc = "qwen2 with norms on the queries and keys of each head, biases if wanted (arXiv:2505.09388)";
  traits.keys.push_back("attention_bias");
  traits.defaults.push_back({"head_dim", "128"});
  return traits;
}

FamilyTraits gemma2() {
  return {.family = ModelFamily::Gemma2,
          .name = "gemma2",
          .doc = "norms before and behind each branch, their weights around zero; capped scores and logits; "
                 "every second layer slides (arXiv:2408.00118)",
          .keys = rotaryWith({"head_dim", "attention_bias", "sliding_window", "layer_types",
                              "query_pre_attn_scalar", "attn_logit_softcapping", "final_logit_softcapping"}),
          .spellings = {{"hidden_activation", "hidden_act"}},
          .defaults = {{"num_key_value_heads", "4"},
                       {"head_dim", "256"},
                       {"max_position_embeddings", "8192"},
                       {"hidden_act", "gelu_pytorch_tanh"},
                       {"tie_word_embeddings", "true"},
                       {"sliding_window", "4096"},
                       {"attn_logit_softcapping", "50"},
                       {"final_logit_softcapping", "30"}},
          .isSliding = slidesEverySecond};
}

FamilyTraits gemma3Text() {
  FamilyTraits traits = gemma2();
  traits.family = ModelFamily::Gemma3Text;
  traits.name = "gemma3_text";
  traits.doc =
      "gemma2 with norms on the queries and keys of each head, and rotary frequencies of their own in "
      "sliding layers, which are five of six (arXiv:2503.19786)";
  traits.keys =
      rotaryWith({"head_dim", "attention_bias", "sliding_window", "layer_types", "query_pre_attn_scalar",
                  "final_logit_softcapping", "sliding_window_pattern", "rope_local_base_freq"});
  traits.spellings.push_back({"_sliding_window_pattern", "sliding_window_pattern"});
  traits.defaults = {{"num_key_value_heads", "4"},
                     {"head_dim", "256"},
                     {"max_position_embeddings", "131072"},
                     {"hidden_act", "gelu_pytorch_tanh"},
                     {"tie_word_embeddings", "true"},
                     {"sliding_window", "4096"},
                     {"rope_theta", "1000000"}};
  traits.isSliding = slidesByPattern;
  return traits;
}

FamilyTraits olmo2() {
  return {.family = ModelFamily::Olmo2,
          .name = "olmo2",
          .doc = "norms behind each branch alone, and on all queries and all keys at once (arXiv:2501.00656)",
          .keys = rotaryWith({"head_dim", "attention_bias"}),
          .spellings = {},
          .defaults = {{"rms_norm_eps", "1e-05"}}};
}

FamilyTraits gpt2() {
  return {.family = ModelFamily::Gpt2,
          .name = "gpt2",
          .doc = "learned positions, layer norms and biases everywhere, one projection to queries, keys and "
                 "values; `n_embd`, `n_layer`, `n_head`, `n_positions`, `n_inner`, `activation_function` and "
                 "`attn_pdrop` are keys too",
          .keys = {"layer_norm_epsilon", "embd_pdrop", "resid_pdrop", "scale_attn_weights",
                   "scale_attn_by_inverse_layer_idx"},
          .spellings = {{"n_embd", "hidden_size"},
                        {"n_layer", "num_hidden_layers"},
                        {"n_head", "num_attention_heads"},
                        {"n_positions", "max_position_embeddings"},
                        {"n_inner", "intermediate_size"},
                        {"activation_function", "hidden_act"},
                        {"attn_pdrop", "attention_dropout"}},
          .defaults = {{"max_position_embeddings", "1024"},
                       {"hidden_act", "gelu_pytorch_tanh"},
                       {"tie_word_embeddings", "true"},
                       {"embd_pdrop", "0.1"},
                       {"resid_pdrop", "0.1"},
                       {"attention_dropout", "0.1"}},
          .expansion = 4};
}
} // namespace

const std::vector<FamilyTraits> &modelFamilies() {
  static const std::vector<FamilyTraits> families = {llama(),  mistral(),    qwen2(), qwen3(),
                                                     gemma2(), gemma3Text(), olmo2(), gpt2()};
  return families;
}

const FamilyTraits &traitsOf(ModelFamily family) { return modelFamilies()[static_cast<size_t>(family)]; }

const FamilyTraits *findFamily(std::string_view name) {
  for (const FamilyTraits &traits : modelFamilies())
    if (traits.name == name)
      return &traits;
  return nullptr;
}

bool FamilyTraits::takes(std::string_view key) const {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

std::vector<std::string> familiesWith(std::string_view key) {
  std::vector<std::string> names;
  for (const FamilyTraits &traits : modelFamilies())
    if (traits.takes(key))
      names.emplace_back(traits.name);
  if (names.size() == modelFamilies().size())
    names.clear();
  return names;
}

std::vector<std::string> patternOfLayers(const ModelConfig &model) {
  std::vector<std::string> types;
  if (auto isSliding = traitsOf(model.family).isSliding)
    for (int64_t layer = 0; layer < model.numHiddenLayers; ++layer)
      types.emplace_back(isSliding(model, layer) ? slidingLayerType : fullLayerType);
  return types;
}

} // namespace weft
