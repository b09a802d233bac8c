//===- ConfigTree.cpp - Nodes of a run file -------------------------------===//
//
// Lookup, insertion and the words for a node in a message. Maps are small and ordered, so lookup is a walk.
//
//===----------------------------------------------------------------------===//
#include "runtime/config/ConfigTree.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace weft {

std::string Origin::str() const { return line > 0 ? absl::StrCat(source, ":", line) : source; }

ConfigNode *ConfigNode::find(std::string_view key) {
  for (size_t i = 0; i < keys.size(); ++i)
    if (keys[i] == key)
      return &children[i];
  return nullptr;
}

const ConfigNode *ConfigNode::find(std::string_view key) const {
  return const_cast<ConfigNode *>(this)->find(key);
}

ConfigNode &ConfigNode::add(std::string_view key, ConfigNode value) {
  kind = Kind::Map;
  keys.emplace_back(key);
  children.push_back(std::move(value));
  return children.back();
}

void ConfigNode::remove(std::string_view key) {
  for (size_t i = 0; i < keys.size(); ++i)
    if (keys[i] == key) {
      keys.erase(keys.begin() + static_cast<ptrdiff_t>(i));
      children.erase(children.begin() + static_cast<ptrdiff_t>(i));
      return;
    }
}

std::string ConfigNode::describe() const {
  switch (kind) {
  case Kind::Null:
    return "nothing";
  case Kind::List:
    return "a list";
  case Kind::Map:
    return "a map";
  case Kind::Scalar:
    break;
  }
  constexpr size_t longest = 60;
  std::string shown = absl::Utf8SafeCEscape(text.size() <= longest ? text : text.substr(0, longest) + "...");
  return quoted ? absl::StrCat("the text \"", shown, "\"") : shown;
}

} // namespace weft
