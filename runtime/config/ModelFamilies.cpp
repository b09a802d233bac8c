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

/// Qwen slides from one layer on.
static bool slidesAboveMaxWindowLayers(const ModelConfig &model, int64_t layer) {
  return model.useSlidingWindow && layer >= model.maxWindowLayers;
}

const std::vector<FamilyTraits> &modelFamilies() {
  static const std::vector<FamilyTraits> families = {
      {ModelFamily::Llama,
       "llama",
       "pre-norm decoder with rotary attention and a gated feed-forward (arXiv:2302.13971)",
       {"num_key_value_heads", "head_dim", "rms_norm_eps", "rope_theta", "rope_scaling", "attention_bias",
        "mlp_bias"},
       {}},
      {ModelFamily::Mistral,
       "mistral",
       "llama without biases; attention sees a sliding window (arXiv:2310.06825)",
       {"num_key_value_heads", "head_dim", "rms_norm_eps", "rope_theta", "rope_scaling", "sliding_window"},
       {{"num_key_value_heads", "8"}, {"max_position_embeddings", "131072"}, {"sliding_window", "4096"}}},
      {ModelFamily::Qwen2,
       "qwen2",
       "llama with biases on queries, keys and values, and a window in upper layers (arXiv:2412.15115)",
       {"num_key_value_heads", "head_dim", "rms_norm_eps", "rope_theta", "rope_scaling", "sliding_window",
        "use_sliding_window", "max_window_layers", "layer_types"},
       {{"num_key_value_heads", "32"}, {"max_position_embeddings", "32768"}, {"sliding_window", "4096"}},
       slidesAboveMaxWindowLayers},
  };
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
