//===- ModelJson.cpp - The model of a tokenizer.json ----------------------===//
//
// Merges are spelled as pairs, or as strings with a space between; of equal pairs the last counts, as in the
// reference. Ids may have holes, but not so many that the table of tokens becomes the file's weapon.
//
//===----------------------------------------------------------------------===//
#include "runtime/tokenizer/ModelJson.h"

#include "runtime/support/Concat.h"
#include "runtime/tokenizer/ByteAlphabet.h"

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"

#include <algorithm>
#include <utility>

namespace weft {
namespace {

constexpr int32_t largestId = (1 << 24) - 1;

absl::Status readVocabulary(const JsonFields &fields, ModelJson &model) {
  const nlohmann::json *vocabulary = fields.find("vocab");
  if (vocabulary == nullptr || !vocabulary->is_object())
    return fields.error("vocab", "expected an object of tokens and their ids");
  for (const auto &[spelling, id] : vocabulary->items()) {
    if (!id.is_number_unsigned() || id.get<uint64_t>() > uint64_t{largestId})
      return fields.error("vocab", concat("the id of \"", spelling, "\" is ", shortJson(id),
                                          ", not one of 0 to ", largestId));
    const auto number = id.get<size_t>();
    if (model.spellings.size() <= number)
      model.spellings.resize(number + 1);
    if (!model.spellings[number].empty())
      return fields.error("vocab", concat("id ", number, " has two tokens, \"", model.spellings[number],
                                          "\" and \"", spelling, "\""));
    model.spellings[number] = spelling;
    model.ids[spelling] = static_cast<int32_t>(number);
  }
  return absl::OkStatus();
}

/// The two sides of a merge; empty: it is neither a pair nor "left right".
std::pair<std::string, std::string> sidesOf(const nlohmann::json &merge) {
  if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string())
    return {merge[0].get<std::string>(), merge[1].get<std::string>()};
  if (!merge.is_string())
    return {};
  const auto text = merge.get<std::string>();
  const size_t space = text.find(' ');
  if (space == std::string::npos || text.find(' ', space + 1) != std::string::npos)
    return {};
  return {text.substr(0, space), text.substr(space + 1)};
}

absl::Status readMerges(const JsonFields &fields, ModelJson &model) {
  const nlohmann::json *merges = fields.find("merges");
  if (merges == nullptr || !merges->is_array())
    return fields.error("merges", "expected a list");
  std::vector<BytePairEncoding::Merge> all;
  for (size_t i = 0; i < merges->size(); ++i) {
    const nlohmann::json &merge = (*merges)[i];
    if (merge.is_string() && merge.get_ref<const std::string &>().starts_with("#version"))
      continue;
    const std::string path = concat("merges[", i, "]");
    const auto [left, right] = sidesOf(merge);
    if (left.empty() || right.empty())
      return fields.error(path,
                          concat("expected [\"left\", \"right\"] or \"left right\", not ", shortJson(merge)));
    const auto find = [&](const std::string &spelling) {
      const auto found = model.ids.find(spelling);
      return found == model.ids.end() ? -1 : found->second;
    };
    const BytePairEncoding::Merge ids = {find(left), find(right), find(left + right)};
    for (const auto &[id, spelling] :
         {std::pair(ids.left, left), {ids.right, right}, {ids.result, left + right}})
      if (id < 0)
        return fields.error(path, concat("\"", spelling, "\" is no token of vocab"));
    all.push_back(ids);
  }
  absl::flat_hash_set<uint64_t> seen;
  for (size_t i = all.size(); i-- > 0;)
    if (seen.insert(uint64_t(uint32_t(all[i].left)) << 32 | uint32_t(all[i].right)).second)
      model.merges.push_back(all[i]);
  std::reverse(model.merges.begin(), model.merges.end());
  return absl::OkStatus();
}

absl::Status readOptions(const JsonFields &fields, ModelJson &model) {
  if (const nlohmann::json *dropout = fields.find("dropout"); dropout != nullptr && *dropout != 0)
    return fields.refuse("dropout", concat(shortJson(*dropout), " is not supported: ids would be random"));
  for (std::string_view key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    absl::StatusOr<std::string> affix = fields.textOr(key, "");
    if (!affix.ok())
      return affix.status();
    if (!affix->empty())
      return fields.refuse(key, concat("\"", *affix, "\" is not supported; supported: none"));
  }
  absl::StatusOr<bool> ignoresMerges = fields.flagOr("ignore_merges", false);
  absl::StatusOr<bool> byteFallback = fields.flagOr("byte_fallback", false);
  absl::StatusOr<bool> fusesUnknown = fields.flagOr("fuse_unk", false);
  absl::StatusOr<std::string> unknown = fields.textOr("unk_token", "");
  for (const absl::Status &status :
       {ignoresMerges.status(), byteFallback.status(), fusesUnknown.status(), unknown.status()})
    if (!status.ok())
      return status;
  model.options.ignoreMerges = *ignoresMerges;
  model.options.byteFallback = *byteFallback;
  model.options.fuseUnknown = *fusesUnknown;
  if (const auto found = model.ids.find(*unknown); found != model.ids.end())
    model.options.unknown = found->second;
  else
    model.missingUnknown = *unknown;
  return absl::OkStatus();
}

} // namespace

absl::StatusOr<ModelJson> ModelJson::read(const JsonFields &fields) {
  absl::StatusOr<std::string> type = fields.textOr("type", "BPE");
  if (!type.ok())
    return type.status();
  if (*type != "BPE")
    return fields.refuse("type", concat("\"", *type, "\" is not supported. Supported: BPE."));
  ModelJson model;
  absl::Status status =
      fields.expectOnly({"type", "dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix",
                         "fuse_unk", "byte_fallback", "ignore_merges", "vocab", "merges"});
  for (auto *part : {&readVocabulary, &readMerges, &readOptions})
    if (status.ok())
      status = part(fields, model);
  if (!status.ok())
    return status;
  return model;
}

absl::StatusOr<BytePairEncoding> ModelJson::createEncoding(bool isByteLevel) const {
  BytePairEncoding::Options how = options;
  how.symbols = isByteLevel ? BytePairEncoding::Symbols::Bytes : BytePairEncoding::Symbols::Characters;
  std::vector<std::string> tokens = spellings;
  std::vector<BytePairEncoding::Merge> reachable = merges;
  bool needsUnknown = true;
  if (isByteLevel) {
    for (std::string &token : tokens)
      token = fromByteAlphabet(token).value_or("");
    // What no byte spells is in no piece.
    std::erase_if(reachable, [&](const BytePairEncoding::Merge &merge) {
      return tokens[static_cast<size_t>(merge.result)].empty();
    });
    const auto bytes = std::count_if(tokens.begin(), tokens.end(),
                                     [](const std::string &token) { return token.size() == 1; });
    needsUnknown = bytes < 256;
    if (needsUnknown && how.byteFallback)
      return absl::UnimplementedError(
          "model.byte_fallback: not supported with ByteLevel, unless all 256 bytes are tokens");
    how.byteFallback = false;
  }
  if (needsUnknown && !missingUnknown.empty())
    return absl::InvalidArgumentError(
        concat("model.unk_token: \"", missingUnknown, "\" is no token of vocab"));
  absl::StatusOr<BytePairEncoding> encoding =
      BytePairEncoding::create(std::move(tokens), std::move(reachable), how);
  if (!encoding.ok())
    return absl::Status(encoding.status().code(), concat("model: ", encoding.status().message()));
  return encoding;
}

} // namespace weft
