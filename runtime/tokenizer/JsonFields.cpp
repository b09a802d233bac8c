//===- JsonFields.cpp - Checked reading of a tokenizer's JSON -------------===//
//
// A null field is as good as an absent one: writers of these files leave both behind.
//
//===----------------------------------------------------------------------===//
#include "runtime/tokenizer/JsonFields.h"

#include "runtime/support/Concat.h"

#include "absl/status/status.h"

#include <algorithm>
#include <limits>

namespace weft {

std::string shortJson(const nlohmann::json &value) {
  constexpr size_t longest = 60;
  if (value.is_structured())
    return value.is_array() ? "a list" : "an object";
  std::string text = value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  if (text.size() > longest)
    text = text.substr(0, longest) + "...";
  return text;
}

absl::StatusOr<JsonFields> JsonFields::of(const nlohmann::json &object, std::string path) {
  if (!object.is_object())
    return absl::InvalidArgumentError(
        concat(path, path.empty() ? "" : ": ", "expected an object, not ", shortJson(object)));
  return JsonFields(object, std::move(path));
}

std::string JsonFields::pathOf(std::string_view key) const {
  return concat(where, where.empty() || key.empty() ? "" : ".", key);
}

const nlohmann::json *JsonFields::find(std::string_view key) const {
  auto found = object->find(key);
  return found == object->end() || found->is_null() ? nullptr : &*found;
}

absl::Status JsonFields::error(std::string_view key, std::string_view message) const {
  return absl::InvalidArgumentError(concat(pathOf(key), ": ", message));
}

absl::Status JsonFields::refuse(std::string_view key, std::string_view message) const {
  return absl::UnimplementedError(concat(pathOf(key), ": ", message));
}

absl::Status JsonFields::typeError(std::string_view key, std::string_view expected) const {
  const nlohmann::json *value = find(key);
  return error(key, value == nullptr ? concat("missing; expected ", expected)
                                     : concat("expected ", expected, ", not ", shortJson(*value)));
}

absl::StatusOr<std::string> JsonFields::text(std::string_view key) const {
  const nlohmann::json *value = find(key);
  if (value == nullptr || !value->is_string())
    return typeError(key, "a string");
  return value->get<std::string>();
}

absl::StatusOr<std::string> JsonFields::textOr(std::string_view key, std::string_view fallback) const {
  return find(key) == nullptr ? std::string(fallback) : text(key);
}

absl::StatusOr<bool> JsonFields::flagOr(std::string_view key, bool fallback) const {
  const nlohmann::json *value = find(key);
  if (value == nullptr)
    return fallback;
  if (!value->is_boolean())
    return typeError(key, "true or false");
  return value->get<bool>();
}

absl::StatusOr<int32_t> JsonFields::number(std::string_view key) const {
  const nlohmann::json *value = find(key);
  if (value == nullptr || !value->is_number_unsigned() ||
      value->get<uint64_t>() > uint64_t{std::numeric_limits<int32_t>::max()})
    return typeError(key, "a number from 0 to 2147483647");
  return static_cast<int32_t>(value->get<uint64_t>());
}

absl::StatusOr<std::vector<JsonFields>> JsonFields::objects(std::string_view key) const {
  const nlohmann::json *value = find(key);
  if (value == nullptr || !value->is_array())
    return typeError(key, "a list");
  std::vector<JsonFields> all;
  for (size_t i = 0; i < value->size(); ++i) {
    absl::StatusOr<JsonFields> one = of((*value)[i], concat(pathOf(key), "[", i, "]"));
    if (!one.ok())
      return one.status();
    all.push_back(*std::move(one));
  }
  return all;
}

absl::StatusOr<std::vector<JsonFields>> JsonFields::sequence(std::string_view key, int depth) const {
  constexpr int deepest = 16;
  if (depth > deepest)
    return refuse("type", concat("more than ", deepest, " sequences within each other"));
  if (absl::Status status = expectOnly({"type", key}); !status.ok())
    return status;
  return objects(key);
}

absl::Status JsonFields::expectOnly(std::initializer_list<std::string_view> known) const {
  for (const auto &[key, value] : object->items())
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      std::string names;
      for (std::string_view name : known)
        names += concat(names.empty() ? "" : ", ", name);
      return refuse(key, concat("this field is not known here. Known: ", names, "."));
    }
  return absl::OkStatus();
}

} // namespace weft
