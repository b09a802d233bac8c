//===- ConfigDecoder.cpp - A tree into typed members ----------------------===//
//
// One overload of decodeInto() for each type that a member can have; the walk over sections and lists is
// around it.
//
//===----------------------------------------------------------------------===//
#include "runtime/config/ConfigDecoder.h"

#include "runtime/config/Paths.h"
#include "runtime/config/ScalarSyntax.h"
#include "runtime/config/Schema.h"
#include "runtime/support/Nearest.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace weft {

namespace {
class Decoder {
public:
  Decoder(const std::string &folder, std::map<std::string, Origin> &origins, Diagnostics &diagnostics)
      : folder(folder), origins(origins), diagnostics(diagnostics) {}

  void decodeSection(const ConfigNode &node, const std::string &path, Config &config);

private:
  void decodeKey(const Key &key, const ConfigNode &node, const std::string &path, void *object);
  void decodeElement(const Key &list, const ConfigNode &node, const std::string &path, void *object);
  void refuseUnknown(const ConfigNode &map, size_t index, const std::string &path,
                     const std::vector<std::string> &siblings);

  absl::Status decodeInto(int64_t &member, const Key &key, const ConfigNode &node);
  absl::Status decodeInto(double &member, const Key &key, const ConfigNode &node);
  absl::Status decodeInto(bool &member, const Key &key, const ConfigNode &node);
  absl::Status decodeInto(std::string &member, const Key &key, const ConfigNode &node);
  absl::Status decodeInto(std::array<double, 2> &member, const Key &key, const ConfigNode &node);
  template <class T>
  absl::Status decodeInto(std::optional<T> &member, const Key &key, const ConfigNode &node);
  template <class T> absl::Status decodeInto(std::vector<T> &member, const Key &key, const ConfigNode &node);
  absl::Status decodeChoice(ChoiceField field, const Key &key, const ConfigNode &node);
  absl::Status decodeNameOrFile(std::string &member, const Key &key, const ConfigNode &node);
  absl::Status decodeRecords(RecordsField field, const Key &key, const ConfigNode &node,
                             const std::string &path);

  const std::string &folder;
  std::map<std::string, Origin> &origins;
  Diagnostics &diagnostics;
};
} // namespace

static std::string join(const std::string &path, const std::string &name) {
  return path.empty() ? name : absl::StrCat(path, ".", name);
}

static bool isSection(const std::string &path) {
  for (const Section &section : configSections())
    if (section.name == path)
      return true;
  return false;
}

/// The names that may stand in a section: its keys and the sections nested in it.
static std::vector<std::string> namesIn(const std::string &section) {
  std::vector<std::string> names;
  std::string prefix = section.empty() ? "" : section + ".";
  auto add = [&](const std::string &path) {
    if (path.compare(0, prefix.size(), prefix) == 0 && path.find('.', prefix.size()) == std::string::npos)
      names.push_back(path.substr(prefix.size()));
  };
  for (const Section &nested : configSections())
    add(nested.name);
  for (const Key &key : configSchema())
    add(key.path);
  if (section == "model")
    names.push_back("from");
  return names;
}

static bool takesNull(const Key &key) {
  Field field = key.fieldIn(const_cast<void *>(key.binding.defaults));
  return !key.derivedFrom.empty() || std::holds_alternative<std::optional<int64_t> *>(field) ||
         std::holds_alternative<std::optional<double> *>(field) || (key.isPath && !key.isRequired);
}

//===----------------------------------------------------------------------===//
// The walk
//===----------------------------------------------------------------------===//

void Decoder::decodeSection(const ConfigNode &node, const std::string &path, Config &config) {
  if (!path.empty())
    origins[path] = node.origin;
  if (node.kind == ConfigNode::Kind::Null)
    return;
  if (node.kind != ConfigNode::Kind::Map) {
    diagnostics.error(node.origin, path, absl::StrCat("expected a map of keys, got ", node.describe(), "."));
    return;
  }
  for (size_t i = 0; i < node.keys.size(); ++i) {
    std::string keyPath = join(path, node.keys[i]);
    if (isSection(keyPath))
      decodeSection(node.children[i], keyPath, config);
    else if (const Key *key = node.keys[i].find('.') == std::string::npos ? findKey(keyPath) : nullptr)
      decodeKey(*key, node.children[i], keyPath, &config);
    else
      refuseUnknown(node, i, path, namesIn(path));
  }
}

void Decoder::refuseUnknown(const ConfigNode &map, size_t index, const std::string &path,
                            const std::vector<std::string> &siblings) {
  const std::string &name = map.keys[index];
  std::string what = "no such key.";
  if (std::optional<std::string> nearest = nearestWord(name, siblings)) {
    absl::StrAppend(&what, " Did you mean ", *nearest, "?");
  } else {
    // Perhaps the right key in the wrong section.
    for (const Key &key : configSchema())
      if (key.path.substr(key.path.rfind('.') + 1) == name) {
        absl::StrAppend(&what, " Did you mean ", key.path, "?");
        diagnostics.error(map.children[index].origin, join(path, name), what);
        return;
      }
    absl::StrAppend(&what, " Known here: ", absl::StrJoin(siblings, ", "), ".");
  }
  ConfigNode shown;
  shown.kind = ConfigNode::Kind::Scalar;
  shown.text = name;
  diagnostics.error(map.children[index].origin, join(path, shown.describe()), what);
}

void Decoder::decodeKey(const Key &key, const ConfigNode &node, const std::string &path, void *object) {
  if (node.kind == ConfigNode::Kind::Null) {
    if (!takesNull(key))
      diagnostics.error(node.origin, path, absl::StrCat("has no value. Expected ", key.typeText(), "."));
    return;
  }
  origins[path] = node.origin;
  absl::Status status = std::visit(
      [&](auto field) -> absl::Status {
        using T = decltype(field);
        if constexpr (std::is_same_v<T, ChoiceField>)
          return decodeChoice(field, key, node);
        else if constexpr (std::is_same_v<T, RecordsField>)
          return decodeRecords(field, key, node, path);
        else
          return decodeInto(*field, key, node);
      },
      key.fieldIn(object));
  if (!status.ok())
    diagnostics.error(node.origin, path, std::string(status.message()));
}

absl::Status Decoder::decodeRecords(RecordsField field, const Key &key, const ConfigNode &node,
                                    const std::string &path) {
  if (node.kind != ConfigNode::Kind::List)
    return absl::InvalidArgumentError(absl::StrCat("expected a list of maps, got ", node.describe(), "."));
  field.resize(field.member, 0);
  field.resize(field.member, node.children.size());
  for (size_t i = 0; i < node.children.size(); ++i)
    decodeElement(key, node.children[i], absl::StrCat(path, "[", i, "]"), field.at(field.member, i));
  return absl::OkStatus();
}

void Decoder::decodeElement(const Key &list, const ConfigNode &node, const std::string &path, void *object) {
  if (node.kind != ConfigNode::Kind::Map) {
    diagnostics.error(node.origin, path, absl::StrCat("expected a map, got ", node.describe(), "."));
    return;
  }
  std::vector<std::string> names;
  for (const Key &key : *list.elements)
    names.push_back(key.path);
  for (size_t i = 0; i < node.keys.size(); ++i) {
    const Key *known = nullptr;
    for (const Key &key : *list.elements)
      if (key.path == node.keys[i])
        known = &key;
    if (known)
      decodeKey(*known, node.children[i], join(path, node.keys[i]), object);
    else
      refuseUnknown(node, i, path, names);
  }
  for (const Key &key : *list.elements)
    if (key.isRequired && !node.find(key.path))
      diagnostics.error(node.origin, join(path, key.path),
                        absl::StrCat("is missing. Expected ", key.typeText(), "."));
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

static absl::Status checkRange(const Key &key, double value, const ConfigNode &node) {
  if (key.inRange(value))
    return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(node.describe(), " is out of range. Works: ", key.rangeText(), "."));
}

absl::Status Decoder::decodeInto(int64_t &member, const Key &key, const ConfigNode &node) {
  absl::StatusOr<int64_t> value = key.isMemorySize ? readMemorySize(node) : readInteger(node);
  if (!value.ok())
    return value.status();
  if (absl::Status status = checkRange(key, static_cast<double>(*value), node); !status.ok())
    return status;
  member = *value;
  return absl::OkStatus();
}

absl::Status Decoder::decodeInto(double &member, const Key &key, const ConfigNode &node) {
  absl::StatusOr<double> value = readNumber(node);
  if (!value.ok())
    return value.status();
  if (absl::Status status = checkRange(key, *value, node); !status.ok())
    return status;
  member = *value;
  return absl::OkStatus();
}

absl::Status Decoder::decodeInto(bool &member, const Key &, const ConfigNode &node) {
  absl::StatusOr<bool> value = readBoolean(node);
  if (value.ok())
    member = *value;
  return value.status();
}

absl::Status Decoder::decodeInto(std::string &member, const Key &key, const ConfigNode &node) {
  if (key.isNameOrFile)
    return decodeNameOrFile(member, key, node);
  absl::StatusOr<std::string> value = key.isPath ? readPath(node, folder) : readText(node);
  if (value.ok())
    member = *value;
  return value.status();
}

absl::Status Decoder::decodeInto(std::array<double, 2> &member, const Key &key, const ConfigNode &node) {
  if (node.kind != ConfigNode::Kind::List || node.children.size() != member.size())
    return absl::InvalidArgumentError(absl::StrCat(
        "expected a list of 2 numbers, got ", node.describe(),
        node.kind == ConfigNode::Kind::List ? absl::StrCat(" of ", node.children.size()) : "", "."));
  for (size_t i = 0; i < member.size(); ++i)
    if (absl::Status status = decodeInto(member[i], key, node.children[i]); !status.ok())
      return status;
  return absl::OkStatus();
}

template <class T>
absl::Status Decoder::decodeInto(std::optional<T> &member, const Key &key, const ConfigNode &node) {
  if (node.kind == ConfigNode::Kind::Scalar && node.text == "auto") {
    member.reset();
    return absl::OkStatus();
  }
  T value{};
  absl::Status status = decodeInto(value, key, node);
  if (status.ok())
    member = value;
  return status;
}

template <class T>
absl::Status Decoder::decodeInto(std::vector<T> &member, const Key &key, const ConfigNode &node) {
  if (node.kind != ConfigNode::Kind::List)
    return absl::InvalidArgumentError(
        absl::StrCat("expected ", key.typeText(), ", got ", node.describe(), "."));
  member.clear();
  for (const ConfigNode &child : node.children) {
    T value{};
    if (absl::Status status = decodeInto(value, key, child); !status.ok())
      return status;
    member.push_back(std::move(value));
  }
  return absl::OkStatus();
}

/// The place of a name among the choices.
static absl::StatusOr<size_t> readChoice(const Key &key, const ConfigNode &node) {
  std::vector<std::string> names;
  for (const Choice &choice : key.choices)
    names.push_back(choice.name);
  std::string works =
      absl::StrCat(" Works: ", absl::StrJoin(names, ", "), key.isNameOrFile ? ", or file:PATH." : ".");
  if (node.kind != ConfigNode::Kind::Scalar)
    return absl::InvalidArgumentError(absl::StrCat("expected a name, got ", node.describe(), ".", works));
  for (size_t i = 0; i < names.size(); ++i)
    if (names[i] == node.text)
      return i;
  std::optional<std::string> nearest = nearestWord(node.text, names);
  return absl::InvalidArgumentError(absl::StrCat("no such choice: ", node.describe(), ".",
                                                 nearest ? absl::StrCat(" Did you mean ", *nearest, "?") : "",
                                                 works));
}

absl::Status Decoder::decodeChoice(ChoiceField field, const Key &key, const ConfigNode &node) {
  absl::StatusOr<size_t> choice = readChoice(key, node);
  if (choice.ok())
    field.set(field.member, static_cast<int>(*choice));
  return choice.status();
}

absl::Status Decoder::decodeNameOrFile(std::string &member, const Key &key, const ConfigNode &node) {
  if (node.kind != ConfigNode::Kind::Scalar || !absl::StartsWith(node.text, filePrefix)) {
    absl::StatusOr<size_t> choice = readChoice(key, node);
    if (choice.ok())
      member = node.text;
    return choice.status();
  }
  ConfigNode file = node;
  file.text.erase(0, std::string_view(filePrefix).size());
  absl::StatusOr<std::string> path = readPath(file, folder);
  if (path.ok())
    member = absl::StrCat(filePrefix, *path);
  return path.status();
}

void decodeConfig(const ConfigNode &root, const std::string &folder, Config &config,
                  std::map<std::string, Origin> &origins, Diagnostics &diagnostics) {
  Decoder(folder, origins, diagnostics).decodeSection(root, "", config);
}

} // namespace weft
