//===- TekkenFile.cpp - Reading Mistral's tekken.json ---------------------===//
//
// The same engine as tiktoken. The first ids are special tokens, those of the vocabulary follow by rank;
// ranks beyond the size that the file declares are left out.
//
//===----------------------------------------------------------------------===//
#include "runtime/tokenizer/RankTokenizer.h"

#include "runtime/support/Concat.h"
#include "runtime/tokenizer/TokenizerJson.h"

#include "absl/status/status.h"
#include "absl/strings/escaping.h"

#include <algorithm>
#include <array>
#include <utility>

namespace weft {
namespace {

/// What files without a list of special tokens mean, in the order of their ids.
constexpr std::array<std::string_view, 20> firstSpecialTokens = {"<unk>",
                                                                 "<s>",
                                                                 "</s>",
                                                                 "[INST]",
                                                                 "[/INST]",
                                                                 "[AVAILABLE_TOOLS]",
                                                                 "[/AVAILABLE_TOOLS]",
                                                                 "[TOOL_RESULTS]",
                                                                 "[/TOOL_RESULTS]",
                                                                 "[TOOL_CALLS]",
                                                                 "[IMG]",
                                                                 "<pad>",
                                                                 "[IMG_BREAK]",
                                                                 "[IMG_END]",
                                                                 "[PREFIX]",
                                                                 "[MIDDLE]",
                                                                 "[SUFFIX]",
                                                                 "[SYSTEM_PROMPT]",
                                                                 "[/SYSTEM_PROMPT]",
                                                                 "[TOOL_CONTENT]"};

struct Sizes {
  size_t special;
  size_t vocabulary;
};

absl::StatusOr<Sizes> readSizes(const JsonFields &config) {
  absl::StatusOr<int32_t> all = config.number("default_vocab_size");
  absl::StatusOr<int32_t> special = config.number("default_num_special_tokens");
  for (const absl::Status &status : {all.status(), special.status()})
    if (!status.ok())
      return status;
  constexpr int32_t mostIds = 1 << 24;
  if (*all > mostIds || *special >= *all)
    return config.error(
        "default_vocab_size",
        concat(*all, " does not lie between default_num_special_tokens, ", *special, ", and ", mostIds));
  return Sizes{static_cast<size_t>(*special), static_cast<size_t>(*all - *special)};
}

absl::StatusOr<std::vector<std::string>> readVocabulary(const JsonFields &fields, Sizes sizes) {
  const nlohmann::json *vocabulary = fields.find("vocab");
  if (!vocabulary->is_array() || vocabulary->size() < sizes.vocabulary)
    return fields.error("vocab", concat("expected a list of at least ", sizes.vocabulary, " tokens"));
  std::vector<std::string> tokens(sizes.special + sizes.vocabulary);
  for (size_t i = 0; i < sizes.vocabulary; ++i) {
    absl::StatusOr<JsonFields> token = JsonFields::of((*vocabulary)[i], concat("vocab[", i, "]"));
    absl::StatusOr<std::string> base64 = token.ok() ? token->text("token_bytes") : token.status();
    absl::StatusOr<int32_t> rank = token.ok() ? token->number("rank") : token.status();
    for (const absl::Status &status : {base64.status(), rank.status()})
      if (!status.ok())
        return status;
    if (static_cast<size_t>(*rank) != i)
      return token->error("rank", concat(*rank, ", but tokens must stand in the order of their ranks"));
    if (!absl::Base64Unescape(*base64, &tokens[sizes.special + i]) || tokens[sizes.special + i].empty())
      return token->error("token_bytes", concat("\"", *base64, "\" is not the base64 of a token"));
  }
  return tokens;
}

absl::StatusOr<std::vector<SpecialTokenConfig>> readSpecialTokens(const JsonFields &fields, Sizes sizes) {
  std::vector<SpecialTokenConfig> tokens;
  if (fields.find("special_tokens") == nullptr) {
    for (std::string_view name : firstSpecialTokens)
      tokens.push_back({std::string(name), static_cast<int64_t>(tokens.size())});
  } else {
    absl::StatusOr<std::vector<JsonFields>> all = fields.objects("special_tokens");
    if (!all.ok())
      return all.status();
    for (const JsonFields &one : *all) {
      absl::StatusOr<std::string> name = one.text("token_str");
      absl::StatusOr<int32_t> rank = one.number("rank");
      for (const absl::Status &status : {name.status(), rank.status()})
        if (!status.ok())
          return status;
      tokens.push_back({*std::move(name), *rank});
    }
  }
  for (const SpecialTokenConfig &token : tokens)
    if (static_cast<size_t>(token.id) >= sizes.special)
      return fields.error("special_tokens", concat("\"", token.token, "\" has rank ", token.id,
                                                   ", but there are ", sizes.special, " special tokens"));
  return tokens;
}

} // namespace

absl::StatusOr<std::unique_ptr<Tokenizer>> readTekken(TokenizerFile file, const JsonFields &fields) {
  absl::StatusOr<JsonFields> config = JsonFields::of(*fields.find("config"), "config");
  absl::StatusOr<std::string> pattern = config.ok() ? config->text("pattern") : config.status();
  absl::StatusOr<Sizes> sizes = config.ok() ? readSizes(*config) : config.status();
  for (const absl::Status &status : {pattern.status(), sizes.status()})
    if (!status.ok())
      return status;
  absl::StatusOr<std::vector<std::string>> tokens = readVocabulary(fields, *sizes);
  absl::StatusOr<std::vector<SpecialTokenConfig>> special = readSpecialTokens(fields, *sizes);
  for (const absl::Status &status : {tokens.status(), special.status()})
    if (!status.ok())
      return status;
  if (!file.pattern.empty() || (!file.specialTokens.empty() && file.specialTokens != *special))
    return absl::InvalidArgumentError(
        "a tekken.json says itself how text is split and which tokens are special: "
        "remove tokenizer.pattern and tokenizer.special_tokens");
  file.specialTokens = *std::move(special);
  if (file.endOfDocument.empty())
    file.endOfDocument = "</s>";
  return RankTokenizer::create(std::move(file), *std::move(tokens), *std::move(pattern));
}

} // namespace weft
