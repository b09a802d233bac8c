//===- JsonSchema.cpp - The schema, to be read by editors -----------------===//
//
// Draft 2020-12. It offers keys, types, ranges and texts; what depends on other keys is left to `weft config
// check`.
//
//===----------------------------------------------------------------------===//
#include "runtime/config/Schema.h"
#include "runtime/config/SchemaReference.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

#include <nlohmann/json.hpp>

#include <cmath>

namespace weft {

using Json = nlohmann::ordered_json;

/// Integers without a fraction, as editors show them.
static Json numberOf(double value) {
  if (std::floor(value) == value && std::abs(value) <= 9007199254740992.0)
    return static_cast<int64_t>(value);
  return value;
}

static Json withBounds(const Key &key, Json schema) {
  if (std::isfinite(key.minimum))
    schema[key.minimumExcluded ? "exclusiveMinimum" : "minimum"] = numberOf(key.minimum);
  if (std::isfinite(key.maximum))
    schema[key.maximumExcluded ? "exclusiveMaximum" : "maximum"] = numberOf(key.maximum);
  return schema;
}

static Json typed(const char *type) { return Json{{"type", type}}; }

/// A key that is computed when it is not given also takes null, as config.json files write it.
static Json orNull(const Key &key, const char *type) {
  return key.derivedFrom.empty() ? typed(type) : Json{{"type", Json::array({type, "null"})}};
}

static Json orAuto(Json schema) {
  return Json{{"anyOf", Json::array({std::move(schema), Json{{"const", "auto"}}, typed("null")})}};
}

static Json objectOf(const std::vector<Key> &keys);

static Json typeSchema(const Key &key) {
  Field field = key.fieldIn(const_cast<void *>(key.binding.defaults));
  if (!key.choices.empty()) {
    Json names = Json::array();
    for (const Choice &choice : key.choices)
      names.push_back(choice.name);
    if (!key.isNameOrFile)
      return Json{{"enum", names}};
    const std::string pattern = absl::StrCat("^", filePrefix, ".");
    return Json{
        {"anyOf", Json::array({Json{{"enum", names}}, Json{{"type", "string"}, {"pattern", pattern}}})}};
  }
  if (!key.textType.empty())
    return Json{{"type", Json::array({"integer", "string"})}};
  if (key.isMemorySize)
    return orAuto(Json{{"type", Json::array({"integer", "string"})}});
  if (key.elements)
    return Json{{"type", "array"}, {"items", objectOf(*key.elements)}};
  if (std::holds_alternative<int64_t *>(field))
    return withBounds(key, orNull(key, "integer"));
  if (std::holds_alternative<double *>(field))
    return withBounds(key, orNull(key, "number"));
  if (std::holds_alternative<bool *>(field))
    return typed("boolean");
  if (std::holds_alternative<std::optional<int64_t> *>(field))
    return orAuto(withBounds(key, typed("integer")));
  if (std::holds_alternative<std::optional<double> *>(field))
    return orAuto(withBounds(key, typed("number")));
  if (std::holds_alternative<std::array<double, 2> *>(field))
    return Json{
        {"type", "array"}, {"items", withBounds(key, typed("number"))}, {"minItems", 2}, {"maxItems", 2}};
  if (std::holds_alternative<std::vector<int64_t> *>(field))
    return Json{{"type", "array"}, {"items", withBounds(key, typed("integer"))}};
  if (std::holds_alternative<std::vector<std::string> *>(field))
    return Json{{"type", "array"}, {"items", typed("string")}};
  return typed("string");
}

static Json keySchema(const Key &key) {
  Json schema = typeSchema(key);
  std::string description = key.doc;
  for (const Choice &choice : key.choices)
    absl::StrAppend(&description, "\n", choice.name, ": ", choice.doc);
  for (const Condition &condition : key.conditions)
    absl::StrAppend(&description, "\nOnly ", condition.phrase(), ".");
  if (!key.unitText.empty())
    absl::StrAppend(&description, "\nUnit: ", key.unitText, ".");
  schema["description"] = description;
  if (!key.isRequired && key.derivedFrom.empty()) {
    // A default is rendered as YAML; names and "auto" are not JSON, and stand for themselves.
    std::string text = key.defaultText();
    Json value = Json::parse(text, nullptr, false);
    schema["default"] = value.is_discarded() ? Json(text) : value;
  }
  return schema;
}

static Json emptyObject() {
  return Json{{"type", "object"}, {"properties", Json::object()}, {"additionalProperties", false}};
}

static Json objectOf(const std::vector<Key> &keys) {
  Json object = emptyObject();
  for (const Key &key : keys) {
    object["properties"][key.path] = keySchema(key);
    if (key.isRequired)
      object["required"].push_back(key.path);
  }
  return object;
}

/// The object that a section is, inside its parents.
static Json &sectionObject(Json &root, const std::string &path) {
  Json *object = &root;
  for (const std::string &name : std::vector<std::string>(absl::StrSplit(path, '.')))
    object = &(*object)["properties"][name];
  return *object;
}

/// `model` also takes the other spellings of a config.json, and whatever else such a file may hold.
static void openModel(Json &root) {
  Json &model = sectionObject(root, "model");
  model["additionalProperties"] = true;
  model["properties"]["from"] = Json{{"type", "string"}, {"description", modelFromDoc}};
  Json &scaling = sectionObject(root, "model.rope_scaling");
  scaling["type"] = Json::array({"object", "null"});
  scaling["additionalProperties"] = true;
}

std::string jsonSchema() {
  Json root{{"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"title", "weft run file"}};
  root.update(emptyObject());
  for (const Section &section : configSections()) {
    Json object = emptyObject();
    object["description"] = section.doc;
    sectionObject(root, section.name) = object;
  }
  for (const Key &key : configSchema()) {
    size_t dot = key.path.rfind('.');
    Json &section = sectionObject(root, key.path.substr(0, dot));
    section["properties"][key.path.substr(dot + 1)] = keySchema(key);
    if (key.isRequired && key.conditions.empty())
      section["required"].push_back(key.path.substr(dot + 1));
  }
  openModel(root);
  return root.dump(2) + "\n";
}

} // namespace weft
