//===- HuggingFaceConfig.cpp - A model as a Hugging Face config.json ------===//
//
// Written are the spellings that transformers has read from its beginnings, and reads today: rope_scaling,
// with rope_theta beside it.
//
//===----------------------------------------------------------------------===//
#include "runtime/config/HuggingFaceConfig.h"

#include "runtime/config/ConfigChecks.h"
#include "runtime/config/ConfigDecoder.h"
#include "runtime/config/Diagnostics.h"
#include "runtime/config/ModelFamilies.h"
#include "runtime/config/ModelKeys.h"
#include "runtime/config/Schema.h"
#include "runtime/support/ExitCode.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

namespace weft {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kSection = "model.";

/// Keys that say what a model is trained with, how long its sequences are, and how many rows its vocabulary
/// has.
constexpr std::string_view kNotComputed[] = {"model.vocab_size",        "model.max_position_embeddings",
                                             "model.initializer_range", "model.attention_dropout",
                                             "model.embd_pdrop",        "model.resid_pdrop"};

bool isModelKey(const Key &key) {
  return absl::StartsWith(key.path, "model.") && key.path != "model.program";
}

/// A map with one key.
ConfigNode mapOf(std::string_view name, ConfigNode value) {
  ConfigNode map;
  map.kind = ConfigNode::Kind::Map;
  map.origin = value.origin;
  map.add(name, std::move(value));
  return map;
}

/// A field as JSON; null where it has no value.
Json jsonOf(const Key &key, const Config &config) {
  // Only read: the field is not written through.
  const Field field = key.fieldIn(const_cast<Config *>(&config));
  return std::visit(
      [&](auto member) -> Json {
        using Member = decltype(member);
        if constexpr (std::is_same_v<Member, ChoiceField>)
          return key.choices[static_cast<size_t>(member.get(member.member))].name;
        else if constexpr (std::is_same_v<Member, RecordsField>)
          return nullptr;
        else if constexpr (requires { member->has_value(); })
          return *member ? Json(**member) : Json(nullptr);
        else
          return *member;
      },
      field);
}

/// What the family calls a key. A name with an underscore before it is how transformers keeps a key to
/// itself.
std::string spellingOf(const std::string &key, const FamilyTraits &family) {
  for (const FamilyValue &spelling : family.spellings)
    if (spelling.value == key && spelling.key.front() != '_')
      return spelling.key;
  return key;
}

/// What transformers wants to see of a value. GPT-2's checkpoints name its activation gelu_new, which
/// transformers computes in other steps than gelu_pytorch_tanh.
Json valueOf(const std::string &key, const Json &value, ModelFamily family) {
  if (family == ModelFamily::Gpt2 && key == "hidden_act" && value == "gelu_pytorch_tanh")
    return "gelu_new";
  for (const char *none : {"sliding_window", "attn_logit_softcapping", "final_logit_softcapping"})
    if (key == none && value == 0)
      return nullptr;
  if (key == "query_pre_attn_scalar" && value == std::floor(value.get<double>()))
    return static_cast<int64_t>(value.get<double>());
  return value;
}

} // namespace

absl::StatusOr<ModelConfig> loadModelConfig(const std::string &path) {
  const Origin origin{path, 0};
  ConfigNode from;
  from.kind = ConfigNode::Kind::Scalar;
  from.text = path;
  from.quoted = true;
  from.origin = origin;
  ConfigNode root = mapOf("model", mapOf("from", std::move(from)));
  Diagnostics diagnostics;
  Config config;
  std::map<std::string, Origin> origins;
  resolveModelKeys(root, "", diagnostics);
  if (!diagnostics.hasErrors())
    decodeConfig(root, "", config, origins, diagnostics);
  for (const Key &key : configSchema())
    if (!diagnostics.hasErrors() && isModelKey(key) && key.isRequired && !origins.count(key.path) &&
        isUsed(key, config))
      diagnostics.error(origin, key.path, absl::StrCat("is missing. Expected ", key.typeText(), "."));
  if (diagnostics.hasErrors())
    return diagnostics.status();
  deriveDefaults(config, origins);
  return config.model;
}

std::string nameOfModel(const ModelConfig &model) {
  return model.program.empty() ? traitsOf(model.family).name : model.program;
}

std::string huggingFaceConfigText(const ModelConfig &model, const std::string &dtype,
                                  std::optional<int64_t> endOfText) {
  Config config;
  config.model = model;
  const FamilyTraits &family = traitsOf(model.family);
  Json json = {{"architectures", {family.architecture}}, {"model_type", family.name}};
  for (const Key &key : configSchema()) {
    const std::string name = key.path.substr(std::min(key.path.size(), kSection.size()));
    if (!isModelKey(key) || name == "family" || !isUsed(key, config))
      continue;
    const Json value = jsonOf(key, config);
    const size_t dot = name.find('.');
    if (value.is_null())
      continue;
    if (dot != std::string::npos)
      json[name.substr(0, dot)][name.substr(dot + 1)] = value;
    else
      json[spellingOf(name, family)] = valueOf(name, value, model.family);
  }
  if (json.contains("rope_scaling") && model.ropeScaling.ropeType == RopeType::Default)
    json["rope_scaling"] = nullptr;
  json["torch_dtype"] = dtype;
  json["bos_token_id"] = nullptr;
  json["eos_token_id"] = endOfText ? Json(*endOfText) : Json();
  return json.dump(2) + "\n";
}

std::vector<std::string> modelDifferences(const ModelConfig &a, const std::string &nameOfA,
                                          const ModelConfig &b, const std::string &nameOfB) {
  Config first, second;
  first.model = a;
  second.model = b;
  std::vector<std::string> lines;
  for (const Key &key : configSchema()) {
    if (!isModelKey(key) ||
        std::find(std::begin(kNotComputed), std::end(kNotComputed), key.path) != std::end(kNotComputed))
      continue;
    const auto render = [&](const Config &config) {
      return isUsed(key, config) ? renderField(key, &config) : "not used";
    };
    if (render(first) != render(second))
      lines.push_back(absl::StrCat(key.path, " is ", render(first), " in ", nameOfA, " and ", render(second),
                                   " in ", nameOfB));
  }
  return lines;
}

} // namespace weft
