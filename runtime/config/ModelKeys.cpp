//===- ModelKeys.cpp - The spellings of a Hugging Face config.json --------===//
//
// Renames (`model_type`, `rope_parameters`, `type`), drops what describes a file and not a model, and insists
// that features without a key here are off.
//
//===----------------------------------------------------------------------===//
#include "runtime/config/ModelKeys.h"

#include "runtime/config/JsonTree.h"
#include "runtime/config/Overrides.h"
#include "runtime/config/Paths.h"
#include "runtime/config/ScalarSyntax.h"
#include "runtime/support/FileText.h"

#include "absl/strings/str_cat.h"

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
static constexpr const char *harmlessKeys[] = {
    "_name_or_path", "architectures",       "bos_token_id", "chunk_size_feed_forward", "dtype",
    "eos_token_id",  "output_attentions",   "pad_token_id", "output_hidden_states",    "pretraining_tp",
    "return_dict",   "torch_dtype",         "torchscript",  "transformers_version",    "use_cache",
    "unk_token_id",  "_attn_implementation"};

static constexpr FixedKey fixedKeys[] = {
    {"is_decoder", "true"},          {"is_encoder_decoder", "false"},  {"add_cross_attention", "false"},
    {"partial_rotary_factor", "1"},  {"tie_encoder_decoder", "false"}, {"sliding_window", nullptr},
    {"use_sliding_window", "false"}, {"quantization_config", nullptr}, {"layer_types", nullptr},
};

static bool sameValue(const ConfigNode &node, const char *value) {
  if (!value || node.kind != ConfigNode::Kind::Scalar)
    return false;
  if (node.text == value)
    return true;
  absl::StatusOr<double> number = readNumber(node);
  return number.ok() && *number == 1.0 && std::string_view(value) == "1";
}

/// Renames a key. Both spellings at once are an error.
static void renameKey(ConfigNode &map, const char *from, const char *to, const std::string &path,
                      Diagnostics &diagnostics) {
  ConfigNode *node = map.find(from);
  if (!node)
    return;
  ConfigNode value = std::move(*node);
  map.remove(from);
  if (const ConfigNode *other = map.find(to))
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
    if (node->kind != ConfigNode::Kind::Null && !sameValue(*node, key.value))
      diagnostics.error(node->origin, absl::StrCat("model.", key.name),
                        absl::StrCat("this feature is not supported (got ", node->describe(), "). Works: ",
                                     key.value ? key.value : "null", ", which is another model."));
    model.remove(key.name);
  }
}

/// transformers 5 keeps the base of the frequencies beside their scaling.
static void liftRopeTheta(ConfigNode &model, Diagnostics &diagnostics) {
  ConfigNode *scaling = model.find("rope_scaling");
  ConfigNode *theta = scaling ? scaling->find("rope_theta") : nullptr;
  if (!theta)
    return;
  ConfigNode value = std::move(*theta);
  scaling->remove("rope_theta");
  if (const ConfigNode *other = model.find("rope_theta"))
    diagnostics.error(
        value.origin, "model.rope_scaling.rope_theta",
        absl::StrCat("is the same key as model.rope_theta, given at ", other->origin.str(), ". Keep one."));
  else
    model.add("rope_theta", std::move(value));
}

static void normalizeSpelling(ConfigNode &model, Diagnostics &diagnostics) {
  renameKey(model, "model_type", "family", "model", diagnostics);
  renameKey(model, "rope_parameters", "rope_scaling", "model", diagnostics);
  dropHarmlessKeys(model);
  checkFixedKeys(model, diagnostics);
  if (ConfigNode *scaling = model.find("rope_scaling"); scaling && scaling->kind == ConfigNode::Kind::Map) {
    renameKey(*scaling, "type", "rope_type", "model.rope_scaling", diagnostics);
    liftRopeTheta(model, diagnostics);
  }
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

void resolveModelKeys(ConfigNode &root, const std::string &folder, Diagnostics &diagnostics) {
  ConfigNode *model = root.find("model");
  if (!model || model->kind != ConfigNode::Kind::Map)
    return;
  normalizeSpelling(*model, diagnostics);
  const ConfigNode *from = model->find("from");
  if (!from)
    return;
  std::optional<ConfigNode> base = readModelFile(*from, folder, diagnostics);
  model->remove("from");
  if (!base)
    return;
  dropNulls(*base);
  normalizeSpelling(*base, diagnostics);
  base->origin = model->origin;
  mergeOver(*base, *model);
  *model = std::move(*base);
}

} // namespace weft
