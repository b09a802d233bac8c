//===- SchemaModel.cpp - The keys of `model` ------------------------------===//
//
// The names and meanings of Hugging Face transformers' configuration classes, so that a config.json can be
// pasted in. Which family takes which key, and its defaults, are in ModelFamilies.cpp; defaults here are
// those of LlamaConfig, or what turns a feature off. Upper bounds keep products of sizes far from overflow.
// `model.from` is not in the table: it is replaced by what the file holds (ModelKeys.h).
//
//===----------------------------------------------------------------------===//
#include "runtime/config/ModelFamilies.h"
#include "runtime/config/Schema.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace weft {

static std::vector<Key> sizeKeys() {
  std::vector<Key> keys;
  auto add = [&](const std::string &name, FieldBinding binding, std::string doc) -> Key & {
    return keys.emplace_back("model." + name, binding, std::move(doc));
  };
  Key &family = add("family", fieldOf<&Config::model, &ModelConfig::family>(),
                    "The architecture; `model_type` is the same key.")
                    .required();
  for (const FamilyTraits &traits : modelFamilies())
    family.choice(traits.name, traits.doc);
  add("hidden_size", fieldOf<&Config::model, &ModelConfig::hiddenSize>(), "Width of the residual stream.")
      .required()
      .atLeast(1)
      .atMost(1 << 20);
  add("num_hidden_layers", fieldOf<&Config::model, &ModelConfig::numHiddenLayers>(),
      "Number of decoder layers.")
      .required()
      .atLeast(1)
      .atMost(4096);
  add("num_attention_heads", fieldOf<&Config::model, &ModelConfig::numAttentionHeads>(),
      "Number of query heads of each attention.")
      .required()
      .atLeast(1)
      .atMost(1 << 16);
  add("num_key_value_heads", fieldOf<&Config::model, &ModelConfig::numKeyValueHeads>(),
      "Number of key and value heads; each serves num_attention_heads / num_key_value_heads query heads.")
      .derived("model.num_attention_heads")
      .atLeast(1)
      .atMost(1 << 16);
  add("head_dim", fieldOf<&Config::model, &ModelConfig::headDim>(), "Width of one head.")
      .derived("model.hidden_size / model.num_attention_heads")
      .atLeast(2)
      .atMost(1 << 16);
  add("intermediate_size", fieldOf<&Config::model, &ModelConfig::intermediateSize>(),
      "Width of the feed-forward.")
      .required()
      .atLeast(1)
      .atMost(1 << 22);
  add("vocab_size", fieldOf<&Config::model, &ModelConfig::vocabSize>(),
      "Number of rows of the embedding; at least the tokenizer's vocabulary.")
      .required()
      .atLeast(1)
      .atMost(1 << 24);
  add("max_position_embeddings", fieldOf<&Config::model, &ModelConfig::maxPositionEmbeddings>(),
      "The longest sequence that the model is meant for.")
      .unit("tokens")
      .atLeast(1)
      .atMost(1 << 27);
  return keys;
}

static std::vector<Key> behaviorKeys() {
  std::vector<Key> keys;
  auto add = [&](const std::string &name, FieldBinding binding, std::string doc) -> Key & {
    return keys.emplace_back("model." + name, binding, std::move(doc));
  };
  add("rms_norm_eps", fieldOf<&Config::model, &ModelConfig::rmsNormEps>(),
      "Added to the mean square before its root is taken.")
      .above(0)
      .atMost(1);
  add("rope_theta", fieldOf<&Config::model, &ModelConfig::ropeTheta>(), "Base of the rotary frequencies.")
      .above(1);
  add("tie_word_embeddings", fieldOf<&Config::model, &ModelConfig::tieWordEmbeddings>(),
      "Whether the output projection is the embedding's own weight.");
  add("attention_bias", fieldOf<&Config::model, &ModelConfig::attentionBias>(),
      "Whether the four projections of attention have biases.");
  add("mlp_bias", fieldOf<&Config::model, &ModelConfig::mlpBias>(),
      "Whether the three projections of the feed-forward have biases.");
  add("hidden_act", fieldOf<&Config::model, &ModelConfig::hiddenAct>(),
      "The activation of the feed-forward, or of its gate; `gelu_new` is gelu_pytorch_tanh.")
      .choice("silu", "x * sigmoid(x)")
      .choice("gelu", "x * normal_cdf(x), by erf")
      .choice("gelu_pytorch_tanh", "the tanh approximation of gelu")
      .choice("relu", "max(x, 0)");
  add("initializer_range", fieldOf<&Config::model, &ModelConfig::initializerRange>(),
      "Standard deviation of the initial weights (norms start as identities, biases at 0).")
      .atLeast(0)
      .atMost(100);
  add("attention_dropout", fieldOf<&Config::model, &ModelConfig::attentionDropout>(),
      "Probability that an attention weight is dropped while training: only 0 so far.")
      .atLeast(0)
      .below(1);
  return keys;
}

static std::vector<Key> windowKeys() {
  std::vector<Key> keys;
  auto add = [&](const std::string &name, FieldBinding binding, std::string doc) -> Key & {
    return keys.emplace_back("model." + name, binding, std::move(doc));
  };
  add("sliding_window", fieldOf<&Config::model, &ModelConfig::slidingWindow>(),
      "How many keys a query of a sliding layer sees, its own included; 0 or null: all before it.")
      .unit("tokens")
      .atLeast(0)
      .atMost(1 << 27);
  add("use_sliding_window", fieldOf<&Config::model, &ModelConfig::useSlidingWindow>(),
      "Whether there are sliding layers.");
  add("max_window_layers", fieldOf<&Config::model, &ModelConfig::maxWindowLayers>(),
      "The first sliding layer, where layer_types does not say.")
      .atLeast(0)
      .atMost(1 << 20);
  add("sliding_window_pattern", fieldOf<&Config::model, &ModelConfig::slidingWindowPattern>(),
      "One layer of so many is full, where layer_types does not say.")
      .atLeast(1)
      .atMost(1 << 20);
  add("layer_types", fieldOf<&Config::model, &ModelConfig::layerTypes>(),
      absl::StrCat("For each layer ", fullLayerType, " or ", slidingLayerType, "."))
      .derived("the family's pattern");
  return keys;
}

static std::vector<Key> familyKeys() {
  std::vector<Key> keys;
  auto add = [&](const std::string &name, FieldBinding binding, std::string doc) -> Key & {
    return keys.emplace_back("model." + name, binding, std::move(doc));
  };
  add("rope_local_base_freq", fieldOf<&Config::model, &ModelConfig::ropeLocalBaseFreq>(),
      "Base of the rotary frequencies in sliding layers, which rope_scaling leaves alone.")
      .above(1);
  add("query_pre_attn_scalar", fieldOf<&Config::model, &ModelConfig::queryPreAttnScalar>(),
      "Attention scores are multiplied by its inverse square root.")
      .above(0)
      .atMost(1 << 20);
  add("attn_logit_softcapping", fieldOf<&Config::model, &ModelConfig::attnLogitSoftcapping>(),
      "The cap of cap * tanh(x / cap) on attention scores; 0 or null: none.")
      .atLeast(0)
      .atMost(1e6);
  add("final_logit_softcapping", fieldOf<&Config::model, &ModelConfig::finalLogitSoftcapping>(),
      "The cap of cap * tanh(x / cap) on logits; 0 or null: none.")
      .atLeast(0)
      .atMost(1e6);
  add("layer_norm_epsilon", fieldOf<&Config::model, &ModelConfig::layerNormEpsilon>(),
      "Added to the variance before its root is taken.")
      .above(0)
      .atMost(1);
  add("embd_pdrop", fieldOf<&Config::model, &ModelConfig::embdPdrop>(),
      "Probability that an element of the embeddings is dropped while training.")
      .atLeast(0)
      .below(1);
  add("resid_pdrop", fieldOf<&Config::model, &ModelConfig::residPdrop>(),
      "Probability that an element of a residual branch is dropped while training.")
      .atLeast(0)
      .below(1);
  add("scale_attn_weights", fieldOf<&Config::model, &ModelConfig::scaleAttnWeights>(),
      "Whether attention scores are divided by the root of the head's width.");
  add("scale_attn_by_inverse_layer_idx", fieldOf<&Config::model, &ModelConfig::scaleAttnByInverseLayerIdx>(),
      "Whether attention scores of layer i, counted from 0, are divided by i + 1.");
  return keys;
}

static std::vector<Key> ropeScalingKeys() {
  using Rope = RopeScalingConfig;
  std::vector<Key> keys;
  auto add = [&](const std::string &name, FieldBinding binding, std::string doc) -> Key & {
    return keys.emplace_back("model.rope_scaling." + name, binding, std::move(doc));
  };
  constexpr auto scaling = &ModelConfig::ropeScaling;
  const std::string type = "model.rope_scaling.rope_type";
  add("rope_type", fieldOf<&Config::model, scaling, &Rope::ropeType>(),
      "The method; `type` is the same key. The section may also be called `rope_parameters`.")
      .choice("default", "frequencies as they are")
      .choice("linear", "all frequencies divided by factor")
      .choice("llama3", "low frequencies divided by factor, high ones kept, a smooth change between")
      .choice("yarn", "interpolation by parts, and a factor on attention (arXiv:2309.00071)");
  add("factor", fieldOf<&Config::model, scaling, &Rope::factor>(),
      "How many times longer the context is than that of the pretraining.")
      .required()
      .usedWith(type, {"linear", "llama3", "yarn"})
      .atLeast(1)
      .atMost(1e6);
  add("original_max_position_embeddings",
      fieldOf<&Config::model, scaling, &Rope::originalMaxPositionEmbeddings>(),
      "The context length of the pretraining.")
      .derived("model.max_position_embeddings")
      .usedWith(type, {"llama3", "yarn"})
      .unit("tokens")
      .atLeast(1)
      .atMost(1 << 27);
  add("low_freq_factor", fieldOf<&Config::model, scaling, &Rope::lowFreqFactor>(),
      "Wavelengths over original_max_position_embeddings / low_freq_factor count as low frequencies.")
      .usedWith(type, {"llama3"})
      .above(0)
      .atMost(1e6);
  add("high_freq_factor", fieldOf<&Config::model, scaling, &Rope::highFreqFactor>(),
      "Wavelengths under original_max_position_embeddings / high_freq_factor count as high frequencies.")
      .usedWith(type, {"llama3"})
      .above(0)
      .atMost(1e6);
  add("beta_fast", fieldOf<&Config::model, scaling, &Rope::betaFast>(),
      "Rotations over the original context from which a frequency is kept.")
      .usedWith(type, {"yarn"})
      .above(0)
      .atMost(1e6);
  add("beta_slow", fieldOf<&Config::model, scaling, &Rope::betaSlow>(),
      "Rotations over the original context up to which a frequency is divided by factor.")
      .usedWith(type, {"yarn"})
      .above(0)
      .atMost(1e6);
  add("attention_factor", fieldOf<&Config::model, scaling, &Rope::attentionFactor>(),
      "Factor on the rotary cosines and sines. auto: m(mscale) / m(mscale_all_dim) if both are given, else "
      "m(1), with "
      "m(x) = 0.1 * x * ln(factor) + 1.")
      .usedWith(type, {"yarn"})
      .above(0)
      .atMost(1e6);
  add("mscale", fieldOf<&Config::model, scaling, &Rope::mscale>(),
      "Numerator of the automatic attention_factor.")
      .usedWith(type, {"yarn"})
      .above(0)
      .atMost(1e6);
  add("mscale_all_dim", fieldOf<&Config::model, scaling, &Rope::mscaleAllDim>(),
      "Denominator of the automatic attention_factor.")
      .usedWith(type, {"yarn"})
      .above(0)
      .atMost(1e6);
  add("truncate", fieldOf<&Config::model, scaling, &Rope::truncate>(),
      "Whether the borders between kept and divided frequencies are rounded to whole dimensions.")
      .usedWith(type, {"yarn"});
  return keys;
}

/// Says which families take a key, and in which its default is another. A key that counts only with another
/// key belongs to the families of that one.
static void addFamilies(Key &key) {
  constexpr std::string_view section = "model.";
  std::string_view name = std::string_view(key.path).substr(section.size());
  name = name.substr(0, name.find('.'));
  if (std::vector<std::string> families = familiesWith(name); !families.empty() && key.conditions.empty())
    key.usedWith("model.family", std::move(families));
  std::vector<std::string> others;
  for (const FamilyTraits &traits : modelFamilies())
    for (const FamilyValue &value : traits.defaults)
      if (value.key == name)
        others.push_back(absl::StrCat(traits.name, ": ", value.value));
  if (!others.empty())
    absl::StrAppend(&key.doc, " Default of ", absl::StrJoin(others, "; "), ".");
}

std::vector<Key> modelKeys() {
  std::vector<Key> keys;
  keys.push_back(Key("model.program", fieldOf<&Config::model, &ModelConfig::program>(),
                     "A file of nn IR that is trained instead of a family: the function of a model, @model "
                     "(`weft model function` "
                     "prints a family's), or a whole job, nn.step @step, whose inputs are its own.")
                     .filePath()
                     .mayChange("the program must still have the parameters of the checkpoint"));
  for (const std::vector<Key> &part :
       {sizeKeys(), behaviorKeys(), windowKeys(), familyKeys(), ropeScalingKeys()})
    for (Key key : part) {
      addFamilies(key);
      keys.push_back(
          key.usedWithout("model.program").mustStay("the checkpoint's parameters belong to another model"));
    }
  return keys;
}

} // namespace weft
