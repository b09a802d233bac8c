//===- HuggingFaceFile.cpp - Reading a tokenizer.json ---------------------===//
//
// The parts of the file become the parts of the tokenizer. The ids of added tokens are checked against those
// that the reference would give them: the vocabulary's, else the next free ones.
//
//===----------------------------------------------------------------------===//
#include "runtime/tokenizer/HuggingFaceTokenizer.h"

#include "runtime/support/Concat.h"
#include "runtime/tokenizer/ModelJson.h"
#include "runtime/tokenizer/TokenDecoder.h"
#include "runtime/tokenizer/TokenizerJson.h"

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"

#include "absl/strings/str_join.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace weft {
namespace {

/// Names under which published tokenizers close a document.
constexpr std::string_view usualEnds[] = {"<|endoftext|>",
                                          "</s>",
                                          "<|end_of_text|>",
                                          "<eos>",
                                          "<EOT>",
                                          "<EOS_TOKEN>",
                                          "<\xEF\xBD\x9C"
                                          "end\xE2\x96\x81of\xE2\x96\x81sentence\xEF\xBD\x9C>"};

absl::StatusOr<AddedToken> readAddedToken(const JsonFields &fields) {
  absl::StatusOr<int32_t> id = fields.number("id");
  absl::StatusOr<std::string> content = fields.text("content");
  absl::StatusOr<bool> isSingleWord = fields.flagOr("single_word", false);
  absl::StatusOr<bool> stripsLeft = fields.flagOr("lstrip", false);
  absl::StatusOr<bool> stripsRight = fields.flagOr("rstrip", false);
  absl::StatusOr<bool> isSpecial = fields.flagOr("special", false);
  absl::StatusOr<bool> isNormalized = fields.flagOr("normalized", isSpecial.ok() && !*isSpecial);
  for (const absl::Status &status :
       {fields.expectOnly({"id", "content", "single_word", "lstrip", "rstrip", "normalized", "special"}),
        id.status(), content.status(), isSingleWord.status(), stripsLeft.status(), stripsRight.status(),
        isSpecial.status(), isNormalized.status()})
    if (!status.ok())
      return status;
  if (content->empty())
    return fields.error("content", "empty");
  return AddedToken{*id,          *std::move(content), *isSingleWord, *stripsLeft,
                    *stripsRight, *isNormalized,       *isSpecial};
}

/// Gives added tokens their ids, as the reference does, and their places in `model.spellings`.
absl::StatusOr<std::vector<AddedToken>> readAddedTokens(const JsonFields &fields, ModelJson &model) {
  std::vector<AddedToken> tokens;
  if (fields.find("added_tokens") == nullptr)
    return tokens;
  absl::StatusOr<std::vector<JsonFields>> all = fields.objects("added_tokens");
  if (!all.ok())
    return all.status();
  const auto vocabularySize = static_cast<int32_t>(model.ids.size());
  int32_t largest = -1;
  for (const JsonFields &one : *all) {
    absl::StatusOr<AddedToken> token = readAddedToken(one);
    if (!token.ok())
      return token.status();
    const auto known = model.ids.find(token->content);
    const int32_t id = known != model.ids.end() ? known->second : std::max(largest + 1, vocabularySize);
    if (id != token->id)
      return one.error("id", concat(token->id, ", but \"", token->content, "\" has id ", id,
                                    known != model.ids.end() ? " in model.vocab" : ", the next free one"));
    if (static_cast<size_t>(id) >= model.spellings.size())
      model.spellings.resize(static_cast<size_t>(id) + 1);
    if (model.spellings[static_cast<size_t>(id)].empty())
      model.spellings[static_cast<size_t>(id)] = token->content;
    if (model.spellings[static_cast<size_t>(id)] != token->content)
      return one.error("id", concat(id, " is that of \"", model.spellings[static_cast<size_t>(id)], "\""));
    largest = std::max(largest, id);
    tokens.push_back(*std::move(token));
  }
  absl::flat_hash_set<std::string_view> seen;
  for (size_t i = 0; i < tokens.size(); ++i)
    if (!seen.insert(tokens[i].content).second)
      return (*all)[i].error("content", concat("\"", tokens[i].content, "\" is added twice"));
  // The reference looks for special tokens before others that are spelled the same.
  std::vector<AddedToken> ordered;
  for (const bool isSpecial : {true, false})
    for (const AddedToken &token : tokens)
      if (token.isSpecial == isSpecial)
        ordered.push_back(token);
  return ordered;
}

/// Those of the tokens that are compared with the normalized text, or the others. Their spelling in the text
/// is also what they decode to.
absl::StatusOr<AddedTokens> selectTokens(const std::vector<AddedToken> &all, bool normalized,
                                         const Normalizer *normalizer, ModelJson &model) {
  std::vector<AddedToken> selected;
  std::vector<std::string> spellings;
  Regex::Scratch scratch;
  for (const AddedToken &token : all) {
    if (token.isNormalized != normalized)
      continue;
    NormalizedText spelling = {token.content, true};
    if (normalized && normalizer != nullptr)
      if (absl::Status status = normalizer->apply(spelling, scratch); !status.ok())
        return status;
    if (spelling.text.empty())
      return absl::UnimplementedError(
          concat("added_tokens: nothing is left of \"", token.content, "\" when it is normalized"));
    model.spellings[static_cast<size_t>(token.id)] = spelling.text;
    selected.push_back(token);
    spellings.push_back(std::move(spelling.text));
  }
  return AddedTokens(std::move(selected), spellings);
}

absl::StatusOr<int32_t> findEnd(const std::string &name, const std::vector<AddedToken> &added,
                                const ModelJson &model) {
  if (!name.empty()) {
    const auto found = std::find(model.spellings.begin(), model.spellings.end(), name);
    if (found != model.spellings.end())
      return static_cast<int32_t>(found - model.spellings.begin());
    return absl::InvalidArgumentError(concat("tokenizer.end_of_document: no token is called \"", name, "\""));
  }
  std::vector<std::string> special;
  for (const AddedToken &token : added)
    if (token.isSpecial)
      special.push_back(token.content);
  for (std::string_view usual : usualEnds)
    for (const AddedToken &token : added)
      if (token.isSpecial && token.content == usual)
        return token.id;
  constexpr size_t mostShown = 10;
  special.resize(std::min(special.size(), mostShown));
  return absl::InvalidArgumentError(
      concat("which token ends a document? Give tokenizer.end_of_document",
             special.empty() ? "." : concat(", perhaps one of ", absl::StrJoin(special, ", "), ".")));
}

/// What each id adds to a text.
absl::Status decodeAll(const ModelJson &model, const TokenDecoder &decoder,
                       HuggingFaceTokenizer::Parts &parts) {
  Regex::Scratch scratch;
  parts.texts.resize(model.spellings.size());
  for (size_t id = 0; id < model.spellings.size(); ++id) {
    if (model.spellings[id].empty())
      continue;
    absl::StatusOr<std::string> text = decoder.decode(model.spellings[id], false, scratch);
    absl::StatusOr<std::string> first = decoder.decode(model.spellings[id], true, scratch);
    for (const absl::Status &status : {text.status(), first.status()})
      if (!status.ok())
        return status;
    if (*first != *text)
      parts.firstTexts[static_cast<int32_t>(id)] = *std::move(first);
    parts.texts[id] = *std::move(text);
  }
  parts.texts[static_cast<size_t>(parts.endOfDocument)] = "";
  parts.firstTexts.erase(parts.endOfDocument);
  return absl::OkStatus();
}

absl::Status checkFile(const TokenizerFile &file, const JsonFields &fields) {
  if (!file.pattern.empty() || !file.specialTokens.empty())
    return absl::InvalidArgumentError(
        "a tokenizer.json says itself how text is split and which tokens are special: "
        "remove tokenizer.pattern and tokenizer.special_tokens");
  for (std::string_view key : {"truncation", "padding"})
    if (fields.find(key) != nullptr)
      return fields.refuse(key, "is not supported: texts are encoded whole. Set it to null.");
  absl::StatusOr<std::string> version = fields.textOr("version", "1.0");
  if (!version.ok())
    return version.status();
  if (*version != "1.0")
    return fields.refuse("version", concat("\"", *version, "\" is not supported. Supported: 1.0."));
  return fields.expectOnly({"version", "truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer",
                            "post_processor", "decoder", "model"});
}

/// The part of the file under `key`, made by `create`; `absent` when the file has none.
template <typename Part, typename Create>
absl::StatusOr<Part> readPart(const JsonFields &fields, std::string_view key, Part absent, Create create) {
  const nlohmann::json *value = fields.find(key);
  if (value == nullptr)
    return absent;
  absl::StatusOr<JsonFields> part = JsonFields::of(*value, std::string(key));
  if (!part.ok())
    return part.status();
  return create(*part);
}

} // namespace

absl::StatusOr<std::unique_ptr<Tokenizer>> readHuggingFaceTokenizer(TokenizerFile file,
                                                                    const JsonFields &fields) {
  if (absl::Status status = checkFile(file, fields); !status.ok())
    return status;
  auto normalizer = readPart(fields, "normalizer", std::unique_ptr<Normalizer>(), &createNormalizer);
  auto preTokenizers = readPart(fields, "pre_tokenizer", PreTokenizers(), &createPreTokenizers);
  auto postProcessor = readPart(fields, "post_processor", PostProcessor(), &PostProcessor::create);
  auto decoder = readPart(fields, "decoder", TokenDecoder(), &TokenDecoder::create);
  auto model = readPart(fields, "model", ModelJson(), &ModelJson::read);
  for (const absl::Status &status : {normalizer.status(), preTokenizers.status(), postProcessor.status(),
                                     decoder.status(), model.status()})
    if (!status.ok())
      return status;
  absl::StatusOr<BytePairEncoding> encoding = model->createEncoding(preTokenizers->endsInBytes);
  absl::StatusOr<std::vector<AddedToken>> added = readAddedTokens(fields, *model);
  for (const absl::Status &status : {encoding.status(), added.status()})
    if (!status.ok())
      return status;
  absl::StatusOr<int32_t> end = findEnd(file.endOfDocument, *added, *model);
  if (!end.ok())
    return end.status();
  // No text becomes the end of a document, whatever the file calls the token.
  for (AddedToken &token : *added)
    token.isSpecial = token.isSpecial || token.id == *end;
  absl::StatusOr<AddedTokens> verbatim = selectTokens(*added, false, nullptr, *model);
  absl::StatusOr<AddedTokens> normalized = selectTokens(*added, true, normalizer->get(), *model);
  for (const absl::Status &status : {verbatim.status(), normalized.status()})
    if (!status.ok())
      return status;
  HuggingFaceTokenizer::Parts parts = {.file = std::move(file),
                                       .model = *std::move(encoding),
                                       .normalizer = *std::move(normalizer),
                                       .preTokenizers = *std::move(preTokenizers),
                                       .verbatimTokens = *std::move(verbatim),
                                       .normalizedTokens = *std::move(normalized),
                                       .postProcessor = *std::move(postProcessor),
                                       .texts = {},
                                       .firstTexts = {},
                                       .endOfDocument = *end};
  if (absl::Status status = decodeAll(*model, *decoder, parts); !status.ok())
    return status;
  for (int32_t id : parts.postProcessor.before)
    if (static_cast<size_t>(id) >= parts.texts.size())
      return absl::InvalidArgumentError(concat("post_processor: id ", id, " is no token"));
  for (int32_t id : parts.postProcessor.after)
    if (static_cast<size_t>(id) >= parts.texts.size())
      return absl::InvalidArgumentError(concat("post_processor: id ", id, " is no token"));
  return std::make_unique<HuggingFaceTokenizer>(std::move(parts));
}

} // namespace weft
