//===- PostProcessor.cpp - The post_processor of a tokenizer.json ---------===//
//
// Templates of one text: special tokens before and behind it. Later processors of a sequence put theirs
// outside of what earlier ones put.
//
//===----------------------------------------------------------------------===//
#include "runtime/tokenizer/PostProcessor.h"

#include "runtime/support/Concat.h"

#include "absl/status/status.h"

namespace weft {
namespace {

/// The ids of the special token that the template calls `name`.
absl::StatusOr<std::vector<int32_t>> idsOf(const JsonFields &fields, const std::string &name) {
  const nlohmann::json *all = fields.find("special_tokens");
  if (all == nullptr || !all->is_object() || !all->contains(name))
    return fields.error("special_tokens", concat("the template uses \"", name, "\", which is not there"));
  absl::StatusOr<JsonFields> token =
      JsonFields::of((*all)[name], concat(fields.pathOf("special_tokens"), ".", name));
  if (!token.ok())
    return token.status();
  const nlohmann::json *ids = token->find("ids");
  std::vector<int32_t> result;
  if (ids == nullptr || !ids->is_array())
    return token->error("ids", "expected a list of ids");
  for (const nlohmann::json &id : *ids) {
    if (!id.is_number_unsigned() || id.get<uint64_t>() > uint64_t{0x7FFFFFFF})
      return token->error("ids", concat("expected ids, not ", shortJson(id)));
    result.push_back(static_cast<int32_t>(id.get<uint64_t>()));
  }
  return result;
}

absl::Status addTemplate(const JsonFields &fields, PostProcessor &to) {
  absl::StatusOr<std::vector<JsonFields>> parts = fields.objects("single");
  for (const absl::Status &status :
       {fields.expectOnly({"type", "single", "pair", "special_tokens"}), parts.status()})
    if (!status.ok())
      return status;
  PostProcessor added;
  bool isBehindText = false;
  for (const JsonFields &part : *parts) {
    const bool isText = part.find("Sequence") != nullptr;
    const nlohmann::json *value = part.find(isText ? "Sequence" : "SpecialToken");
    if (value == nullptr)
      return part.error("", "expected {\"Sequence\": ...} or {\"SpecialToken\": ...}");
    absl::StatusOr<JsonFields> inner =
        JsonFields::of(*value, part.pathOf(isText ? "Sequence" : "SpecialToken"));
    absl::StatusOr<std::string> id = inner.ok() ? inner->text("id") : inner.status();
    if (!id.ok())
      return id.status();
    if (isText) {
      if (*id != "A" || isBehindText)
        return inner->refuse("id", "a template of one text must hold sequence A, once");
      isBehindText = true;
      continue;
    }
    absl::StatusOr<std::vector<int32_t>> ids = idsOf(fields, *id);
    if (!ids.ok())
      return ids.status();
    std::vector<int32_t> &side = isBehindText ? added.after : added.before;
    side.insert(side.end(), ids->begin(), ids->end());
  }
  if (!isBehindText)
    return fields.refuse("single", "a template of one text must hold sequence A, once");
  to.before.insert(to.before.begin(), added.before.begin(), added.before.end());
  to.after.insert(to.after.end(), added.after.begin(), added.after.end());
  return absl::OkStatus();
}

absl::Status add(const JsonFields &fields, int depth, PostProcessor &to) {
  absl::StatusOr<std::string> type = fields.text("type");
  if (!type.ok())
    return type.status();
  if (*type == "TemplateProcessing")
    return addTemplate(fields, to);
  if (*type == "ByteLevel")
    return fields.expectOnly({"type", "add_prefix_space", "trim_offsets", "use_regex"});
  if (*type != "Sequence")
    return fields.refuse(
        "type",
        concat("\"", *type, "\" is not supported. Supported: ByteLevel, Sequence, TemplateProcessing."));
  absl::StatusOr<std::vector<JsonFields>> all = fields.sequence("processors", depth);
  if (!all.ok())
    return all.status();
  for (const JsonFields &one : *all)
    if (absl::Status status = add(one, depth + 1, to); !status.ok())
      return status;
  return absl::OkStatus();
}

} // namespace

absl::StatusOr<PostProcessor> PostProcessor::create(const JsonFields &fields) {
  PostProcessor all;
  if (absl::Status status = add(fields, 0, all); !status.ok())
    return status;
  return all;
}

} // namespace weft
