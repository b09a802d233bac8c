//===- Overrides.cpp - `--set a.b=c` --------------------------------------===//
//
// The path is cut into steps (a key, or an index into a list) and walked from the root; missing maps are
// made.
//
//===----------------------------------------------------------------------===//
#include "runtime/config/Overrides.h"

#include "runtime/config/YamlTree.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

#include <optional>

namespace weft {

static const Origin setOrigin{"--set", 0};

namespace {
struct Step {
  std::string key;
  std::vector<size_t> indices;
};
} // namespace

/// "train[0]" is the key train and the index 0. None when it is neither a key nor a key with indices.
static std::optional<Step> parseStep(std::string_view text) {
  Step step;
  size_t bracket = text.find('[');
  step.key = std::string(text.substr(0, bracket));
  while (bracket != std::string_view::npos && bracket < text.size()) {
    size_t close = text.find(']', bracket);
    if (text[bracket] != '[' || close == std::string_view::npos)
      return std::nullopt;
    uint32_t index = 0;
    if (!absl::SimpleAtoi(std::string(text.substr(bracket + 1, close - bracket - 1)), &index))
      return std::nullopt;
    step.indices.push_back(index);
    bracket = close + 1;
  }
  return step.key.empty() ? std::nullopt : std::optional(step);
}

static void setOrigins(ConfigNode &node) {
  node.origin = setOrigin;
  for (ConfigNode &child : node.children)
    setOrigins(child);
}

void mergeOver(ConfigNode &base, const ConfigNode &over) {
  if (base.kind != ConfigNode::Kind::Map || over.kind != ConfigNode::Kind::Map) {
    base = over;
    return;
  }
  for (size_t i = 0; i < over.keys.size(); ++i) {
    if (ConfigNode *existing = base.find(over.keys[i]))
      mergeOver(*existing, over.children[i]);
    else
      base.add(over.keys[i], over.children[i]);
  }
}

/// True when a leaf that `over` would set was already set by an earlier override.
static bool setBefore(const ConfigNode &base, const ConfigNode &over) {
  if (base.kind != ConfigNode::Kind::Map || over.kind != ConfigNode::Kind::Map)
    return base.kind != ConfigNode::Kind::Null && base.origin.source == setOrigin.source;
  for (size_t i = 0; i < over.keys.size(); ++i)
    if (const ConfigNode *existing = base.find(over.keys[i]);
        existing && setBefore(*existing, over.children[i]))
      return true;
  return false;
}

/// The node that a path names, made if it is a key that is missing. Null, with an error, when the path leads
/// through something that is neither a map nor a list with that element.
static ConfigNode *walk(const std::string &path, ConfigNode &root, Diagnostics &diagnostics) {
  ConfigNode *node = &root;
  std::vector<std::string> parts = absl::StrSplit(path, '.');
  if (parts.size() > static_cast<size_t>(maxConfigDepth)) {
    diagnostics.error(setOrigin, path,
                      absl::StrCat("nested deeper than ", maxConfigDepth, " levels. No key is."));
    return nullptr;
  }
  for (const std::string &part : parts) {
    std::optional<Step> step = parseStep(part);
    if (!step) {
      diagnostics.error(setOrigin, path,
                        "not a path. Write it as section.key, an element as data.train[0].path.");
      return nullptr;
    }
    if (node->kind != ConfigNode::Kind::Map && node->kind != ConfigNode::Kind::Null) {
      diagnostics.error(setOrigin, path,
                        absl::StrCat("leads through ", node->describe(), ", which has no keys."));
      return nullptr;
    }
    ConfigNode *child = node->find(step->key);
    if (!child) {
      ConfigNode fresh;
      fresh.origin = setOrigin;
      child = &node->add(step->key, std::move(fresh));
    }
    node = child;
    for (size_t index : step->indices) {
      size_t size = node->kind == ConfigNode::Kind::List ? node->children.size() : 0;
      if (index >= size) {
        diagnostics.error(
            setOrigin, path,
            absl::StrCat("there is no element ", index, ": ", step->key, " has ", size, ", counted from 0."));
        return nullptr;
      }
      node = &node->children[index];
    }
  }
  return node;
}

void applyOverride(const std::string &text, ConfigNode &root, Diagnostics &diagnostics) {
  size_t equals = text.find('=');
  if (equals == std::string::npos) {
    diagnostics.error(absl::StrCat("--set ", text, ": there is no `=`. Write --set section.key=value."));
    return;
  }
  std::string path = text.substr(0, equals);
  absl::StatusOr<ConfigNode> value = readYaml(text.substr(equals + 1), absl::StrCat("--set ", path), false);
  if (!value.ok()) {
    diagnostics.error(std::string(value.status().message()));
    return;
  }
  setOrigins(*value);
  ConfigNode *node = walk(path, root, diagnostics);
  if (!node)
    return;
  if (setBefore(*node, *value)) {
    diagnostics.error(setOrigin, path, "is set twice. Keep one.");
    return;
  }
  mergeOver(*node, *value);
}

} // namespace weft
