//===- WriteTokenizerJson.cpp - A trained vocabulary as tokenizer.json ----===//
//
// The file that Hugging Face tokenizers reads and would itself have written.
//
//===----------------------------------------------------------------------===//
#include "runtime/tokenizer/BytePairTrainer.h"

#include <nlohmann/json.hpp>

namespace weft {
namespace {

using Json = nlohmann::ordered_json;

Json byteLevel(bool usesRegex) {
  return {
      {"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", usesRegex}};
}

/// The reference's byte-level step has the pattern of GPT-2 built in; others are a step before it.
Json preTokenizer(std::string_view patternName) {
  if (patternName == "gpt2")
    return byteLevel(true);
  Json split = {{"type", "Split"},
                {"pattern", {{"Regex", std::string(wellKnownPattern(patternName, RegexDialect::Oniguruma))}}},
                {"behavior", "Isolated"},
                {"invert", false}};
  return {{"type", "Sequence"}, {"pretokenizers", Json::array({split, byteLevel(false)})}};
}

} // namespace

std::string writeTokenizerJson(const TrainedVocabulary &vocabulary, std::string_view patternName) {
  const auto spelling = [&](int32_t id) { return vocabulary.tokens[static_cast<size_t>(id)]; };
  Json added = Json::array();
  for (size_t id = 0; id < vocabulary.specialTokens; ++id)
    added.push_back({{"id", id},
                     {"content", vocabulary.tokens[id]},
                     {"single_word", false},
                     {"lstrip", false},
                     {"rstrip", false},
                     {"normalized", false},
                     {"special", true}});
  Json ids = Json::object(), merges = Json::array();
  // The spellings differ: no need that each insertion looks for an equal one.
  Json::object_t::Container &entries = ids.get_ref<Json::object_t &>();
  for (size_t id = 0; id < vocabulary.tokens.size(); ++id)
    entries.emplace_back(vocabulary.tokens[id], id);
  for (const auto &[left, right] : vocabulary.merges)
    merges.push_back({spelling(left), spelling(right)});
  Json model = {{"type", "BPE"},
                {"dropout", nullptr},
                {"unk_token", nullptr},
                {"continuing_subword_prefix", nullptr},
                {"end_of_word_suffix", nullptr},
                {"fuse_unk", false},
                {"byte_fallback", false},
                {"ignore_merges", false},
                {"vocab", std::move(ids)},
                {"merges", std::move(merges)}};
  Json file = {{"version", "1.0"},          {"truncation", nullptr},
               {"padding", nullptr},        {"added_tokens", std::move(added)},
               {"normalizer", nullptr},     {"pre_tokenizer", preTokenizer(patternName)},
               {"post_processor", nullptr}, {"decoder", byteLevel(true)},
               {"model", std::move(model)}};
  return file.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace weft
