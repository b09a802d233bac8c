//===- ModelKeys.cpp - The spellings of a Hugging Face config.json --------===//
//
// Renames (`model_type`, `rope_parameters`, `type`), drops what describes a file and not a model, fills in
// what transformers takes where the file is silent (ModelFamilies.h), and insists that features which the
// family, or weft, has no key for are off.
//
//===----------------------------------------------------------------------===//
#include "runtime/config/ModelKeys.h"

#include "runtime/config/JsonTree.h"
#include "runtime/config/ModelFamilies.h"
#include "runtime/config/Overrides.h"
#include "runtime/config/Paths.h"
#include "runtime/config/ScalarSyntax.h"
#include "runtime/config/Schema.h"
#include "runtime/support/FileText.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <limits>
#include <optional>

namespace weft {

namespace {
/// A key of transformers for which weft has one behavior. Another value would be another model.
struct FixedKey {
  const char *name;
  /// The value that means just that.
  const char *value;
};
} // namespace

// What describes the file, the tokenizer, or how other programs run the model.
static constexpr const char *harmlessKeys[] = {"_name_or_path",
                                               "architectures",
                                               "bos_token_id",
                                               "chunk_size_feed_forward",
                                               "dtype",
                                               "eos_token_id",
                                               "output_attentions",
                                               "pad_token_id",
                                               "output_hidden_states",
                                               "pretraining_tp",
                                               "return_dict",
                                               "torch_dtype",
                                               "torchscript",
                                               "transformers_version",
                                               "use_cache",
                                               "unk_token_id",
                                               "_attn_implementation",
                                               "cache_implementation",
                                               "problem_type",
                                               "id2label",
                                               "label2id",
                                               "n_ctx",
                                               "gradient_checkpointing",
                                               "task_specific_params",
                                               "summary_type",
                                               "summary_use_proj",
                                               "summary_activation",
                                               "summary_proj_to_labels",
                                               "summary_first_dropout",
                                               "reorder_and_upcast_attn"};

static constexpr FixedKey fixedKeys[] = {
    {"is_decoder", "true"},
    {"is_encoder_decoder", "false"},
    {"add_cross_attention", "false"},
    {"partial_rotary_factor", "1"},
    {"tie_encoder_decoder", "false"},
    {"quantization_config", nullptr},
    {"use_bidirectional_attention", "false"},
};

/// Names of one activation: what transformers calls it, and the name here.
static constexpr FixedKey activationNames[] = {{"gelu_new", "gelu_pytorch_tanh"}, {"swish", "silu"}};

// Where null does not mean that the key is not given, but that there is none of it.
static constexpr const char *noneKeys[] = {"sliding_window", "attn_logit_softcapping",
                                           "final_logit_softcapping"};

/// A scalar as it would be written.
static ConfigNode scalarNode(const std::string &text, Origin origin) {
  ConfigNode node;
  node.kind = ConfigNode::Kind::Scalar;
  node.text = text;
  node.origin = std::move(origin);
  return node;
}

/// Whether two scalars are the same text or the same number.
static bool sameValue(const ConfigNode &node, const std::string &value) {
  if (node.kind != ConfigNode::Kind::Scalar)
    return false;
  if (node.text == value)
    return true;
  absl::StatusOr<double> number = readNumber(node), other = readNumber(scalarNode(value, {}));
  return number.ok() && other.ok() && *number == *other;
}

/// Renames a key. Both spellings at once are an error, unless they `mayRepeat` each other.
static void renameKey(ConfigNode &map, const std::string &from, const std::string &to,
                      const std::string &path, Diagnostics &diagnostics, bool mayRepeat = false) {
  ConfigNode *node = map.find(from);
  if (!node)
    return;
  ConfigNode value = std::move(*node);
  map.remove(from);
  const ConfigNode *other = map.find(to);
  if (other && mayRepeat && sameValue(value, other->text))
    return;
  if (other)
    diagnostics.error(
        value.origin, absl::StrCat(path, ".", from),
        absl::StrCat("is the same key as ", to, ", given at ", other->origin.str(), ". Keep one."));
  else
    map.add(to, std::move(value));
}

static void dropHarmlessKeys(ConfigNode &model) {
  for (const char *name : harmlessKeys)
    model.remove(name);
}

static void checkFixedKeys(ConfigNode &model, Diagnostics &diagnostics) {
  for (const FixedKey &key : fixedKeys) {
    const ConfigNode *node = model.find(key.name);
    if (!node)
      continue;
    if (node->kind != ConfigNode::Kind::Null && !(key.value && sameValue(*node, key.value)))
      diagnostics.error(node->origin, absl::StrCat("model.", key.name),
                        absl::StrCat("this feature is not supported (got ", node->describe(), "). Works: ",
                                     key.value ? key.value : "null", ", which is another model."));
    model.remove(key.name);
  }
}

/// Moves a key of rope_scaling to where it stands in `model`.
static void liftFromScaling(ConfigNode &model, ConfigNode &scaling, const std::string &from,
                            const std::string &to, Diagnostics &diagnostics) {
  ConfigNode *node = scaling.find(from);
  if (!node)
    return;
  ConfigNode value = std::move(*node);
  scaling.remove(from);
  if (const ConfigNode *other = model.find(to))
    diagnostics.error(
        value.origin, absl::StrCat("model.rope_scaling.", from),
        absl::StrCat("is the same key as model.", to, ", given at ", other->origin.str(), ". Keep one."));
  else
    model.add(to, std::move(value));
}

/// transformers 5 keeps what rotary embedding is in one map, the base of the frequencies included; or, where
/// sliding layers differ, in one for each kind of layer. `scaling` is the map for all, or for full layers.
static void liftRopeParameters(ConfigNode &model, const FamilyTraits *family, Diagnostics &diagnostics) {
  ConfigNode *node = model.find("rope_scaling");
  if (!node || node->kind != ConfigNode::Kind::Map)
    return;
  ConfigNode scaling = std::move(*node);
  model.remove("rope_scaling");
  if (family && family->takes("rope_local_base_freq") &&
      (scaling.find(fullLayerType) || scaling.find(slidingLayerType))) {
    ConfigNode local = scaling.find(slidingLayerType) ? *scaling.find(slidingLayerType) : ConfigNode{};
    ConfigNode global = scaling.find(fullLayerType) ? *scaling.find(fullLayerType) : ConfigNode{};
    scaling.remove(slidingLayerType);
    scaling.remove(fullLayerType);
    for (const std::string &name : scaling.keys)
      global.add(name, *scaling.find(name)); // which decoding refuses
    if (local.kind == ConfigNode::Kind::Map) {
      liftFromScaling(model, local, "rope_theta", "rope_local_base_freq", diagnostics);
      for (const std::string &name : local.keys)
        if (name != "rope_type" || !sameValue(*local.find(name), "default"))
          diagnostics.error(local.find(name)->origin,
                            absl::StrCat("model.rope_scaling.", slidingLayerType, ".", name),
                            "sliding layers rotate by their base alone. Works: rope_theta, and rope_type: "
                            "default.");
    }
    scaling = std::move(global);
  }
  if (scaling.kind != ConfigNode::Kind::Map)
    return;
  renameKey(scaling, "type", "rope_type", "model.rope_scaling", diagnostics, true);
  liftFromScaling(model, scaling, "rope_theta", "rope_theta", diagnostics);
  if (const ConfigNode *part = scaling.find("partial_rotary_factor"); part && sameValue(*part, "1"))
    scaling.remove("partial_rotary_factor");
  model.add("rope_scaling", std::move(scaling));
}

/// A key that the family does not take may say that the feature is off, and nothing else.
static void checkFamilyKeys(ConfigNode &model, const FamilyTraits &family, Diagnostics &diagnostics) {
  for (size_t i = model.keys.size(); i-- > 0;) {
    const std::string name = model.keys[i];
    const std::vector<std::string> families = familiesWith(name);
    if (families.empty() || family.takes(name))
      continue;
    const ConfigNode &node = model.children[i];
    const Key *key = findKey("model." + name);
    bool isOff = node.kind == ConfigNode::Kind::Null ||
                 (key && sameValue(node, renderField(*key, key->binding.defaults)));
    if (!isOff)
      diagnostics.error(node.origin, absl::StrCat("model.", name),
                        absl::StrCat("the family ", family.name, " has no such key (got ", node.describe(),
                                     "); ", absl::StrJoin(families, ", "),
                                     families.size() == 1 ? " has" : " have", " it. Works: without it."));
    model.remove(name);
  }
}

/// What transformers takes where the file is silent.
static void addFamilyDefaults(ConfigNode &model, const FamilyTraits &family) {
  for (const FamilyValue &value : family.defaults)
    if (!model.find(value.key))
      model.add(value.key, scalarNode(value.value, {absl::StrCat("default of ", family.name), 0}));
}

static void normalizeSpelling(ConfigNode &model, const FamilyTraits *family, Diagnostics &diagnostics) {
  renameKey(model, "rope_parameters", "rope_scaling", "model", diagnostics);
  dropHarmlessKeys(model);
  checkFixedKeys(model, diagnostics);
  for (const char *name : noneKeys)
    if (ConfigNode *node = model.find(name); node && node->kind == ConfigNode::Kind::Null)
      *node = scalarNode("0", node->origin);
  if (!family) {
    liftRopeParameters(model, family, diagnostics);
    return;
  }
  for (const FamilyValue &spelling : family->spellings)
    renameKey(model, spelling.key, spelling.value, "model", diagnostics, true);
  for (const FixedKey &activation : activationNames)
    if (ConfigNode *node = model.find("hidden_act"); node && sameValue(*node, activation.name))
      node->text = activation.value;
  checkFamilyKeys(model, *family, diagnostics);
  liftRopeParameters(model, family, diagnostics);
}

/// In a config.json null means that a key is not given.
static void dropNulls(ConfigNode &node) {
  for (size_t i = node.keys.size(); i-- > 0;)
    if (node.children[i].kind == ConfigNode::Kind::Null)
      node.remove(std::string(node.keys[i]));
    else
      dropNulls(node.children[i]);
}

static std::optional<ConfigNode> readModelFile(const ConfigNode &from, const std::string &folder,
                                               Diagnostics &diagnostics) {
  absl::StatusOr<std::string> path = readPath(from, folder);
  if (!path.ok()) {
    diagnostics.error(from.origin, "model.from", std::string(path.status().message()));
    return std::nullopt;
  }
  constexpr size_t largestFile = 1 << 20;
  absl::StatusOr<std::string> text = readFileText(*path, largestFile);
  if (!text.ok()) {
    diagnostics.error(from.origin, "model.from", absl::StrCat(text.status().message(), "."));
    return std::nullopt;
  }
  absl::StatusOr<ConfigNode> model = readJson(*text, from.text);
  if (!model.ok()) {
    diagnostics.error(std::string(model.status().message()));
    return std::nullopt;
  }
  if (model->kind != ConfigNode::Kind::Map) {
    diagnostics.error(
        from.origin, "model.from",
        absl::StrCat("expected a Hugging Face config.json (a map), got ", model->describe(), "."));
    return std::nullopt;
  }
  return std::move(*model);
}

/// The model of images and text that holds a model of text is called by another name.
static bool refuseMultimodal(ConfigNode &model, const ConfigNode &family, Diagnostics &diagnostics) {
  if (family.text != "gemma3")
    return false;
  diagnostics.error(
      family.origin, "model.family",
      "gemma3 is a model of images and text. Works: gemma3_text, with the keys of its text_config "
      "under model.");
  model.keys.clear();
  model.children.clear();
  return true;
}

/// The node that names the family; null where none does.
static const ConfigNode *familyNode(const ConfigNode &model, const ConfigNode *base) {
  const ConfigNode *node = model.find("family");
  if (!node && base)
    node = base->find("family");
  return node && node->kind == ConfigNode::Kind::Scalar ? node : nullptr;
}

/// The feed-forward is so many times as wide as the residual stream.
static void addExpansion(ConfigNode &model, const FamilyTraits &family) {
  const ConfigNode *inner = model.find("intermediate_size"), *hidden = model.find("hidden_size");
  absl::StatusOr<int64_t> width = hidden ? readInteger(*hidden) : absl::NotFoundError("");
  if (family.expansion == 0 || (inner && inner->kind != ConfigNode::Kind::Null) || !width.ok() ||
      *width > std::numeric_limits<int32_t>::max())
    return;
  model.remove("intermediate_size");
  model.add("intermediate_size", scalarNode(absl::StrCat(family.expansion * *width),
                                            {absl::StrCat("default of ", family.name), 0}));
}

void resolveModelKeys(ConfigNode &root, const std::string &folder, Diagnostics &diagnostics) {
  ConfigNode *model = root.find("model");
  if (!model || model->kind != ConfigNode::Kind::Map)
    return;
  std::optional<ConfigNode> base;
  const bool hasFile = model->find("from") != nullptr;
  if (hasFile) {
    base = readModelFile(*model->find("from"), folder, diagnostics);
    model->remove("from");
  }
  renameKey(*model, "model_type", "family", "model", diagnostics);
  if (base)
    renameKey(*base, "model_type", "family", "model", diagnostics);
  const ConfigNode *name = familyNode(*model, base ? &*base : nullptr);
  if (name && refuseMultimodal(*model, ConfigNode(*name), diagnostics))
    return;
  // An unknown name is reported by decoding.
  const FamilyTraits *family = name ? findFamily(name->text) : nullptr;
  normalizeSpelling(*model, family, diagnostics);
  if (base) {
    normalizeSpelling(*base, family, diagnostics);
    if (family)
      addFamilyDefaults(*base, *family);
    dropNulls(*base);
    base->origin = model->origin;
    mergeOver(*base, *model);
    *model = std::move(*base);
  } else if (!hasFile && family) {
    addFamilyDefaults(*model, *family);
  }
  if (family)
    addExpansion(*model, *family);
}

} // namespace weft
