//===- TokenizerFile.cpp - A tokenizer that somebody trained --------------===//
//
// The payload's first line is JSON with the keys of the run file in a fixed order, so that equal tokenizers
// give equal bytes; everything behind it is the file.
//
//===----------------------------------------------------------------------===//
#include "runtime/tokenizer/TokenizerFile.h"

#include "runtime/tokenizer/SentencePieceTokenizer.h"
#include "runtime/tokenizer/TokenizerJson.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include <nlohmann/json.hpp>

namespace weft {

std::string TokenizerFile::payload() const {
  nlohmann::ordered_json keys;
  keys["pattern"] = pattern;
  keys["special_tokens"] = nlohmann::ordered_json::array();
  for (const SpecialTokenConfig &special : specialTokens)
    keys["special_tokens"].push_back({special.token, special.id});
  keys["end_of_document"] = endOfDocument;
  return absl::StrCat(keys.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace), "\n", contents);
}

absl::StatusOr<TokenizerFile> TokenizerFile::fromPayload(std::string_view payload) {
  const absl::Status malformed = absl::DataLossError(
      "tokenizer: the payload of kind file does not begin with a line of JSON with the keys pattern, "
      "special_tokens and end_of_document");
  const size_t lineEnd = payload.find('\n');
  if (lineEnd == std::string_view::npos)
    return malformed;
  const nlohmann::json keys = nlohmann::json::parse(payload.substr(0, lineEnd), nullptr, false);
  if (!keys.is_object() || keys.size() != 3)
    return malformed;
  const auto text = [&](const char *key) { return keys.contains(key) && keys[key].is_string(); };
  if (!text("pattern") || !text("end_of_document") || !keys.contains("special_tokens") ||
      !keys["special_tokens"].is_array())
    return malformed;
  TokenizerFile file{.name = "the tokenizer's file",
                     .contents = std::string(payload.substr(lineEnd + 1)),
                     .pattern = keys["pattern"].get<std::string>(),
                     .specialTokens = {},
                     .endOfDocument = keys["end_of_document"].get<std::string>()};
  for (const nlohmann::json &special : keys["special_tokens"]) {
    if (!special.is_array() || special.size() != 2 || !special[0].is_string() ||
        !special[1].is_number_integer())
      return malformed;
    file.specialTokens.push_back({special[0].get<std::string>(), special[1].get<int64_t>()});
  }
  return file;
}

absl::StatusOr<std::unique_ptr<Tokenizer>> readTokenizerFile(TokenizerFile file) {
  if (isTiktoken(file.contents))
    return readTiktoken(std::move(file));
  if (isSentencePiece(file.contents))
    return SentencePieceTokenizer::create(std::move(file));
  if (isTokenizerJson(file.contents))
    return readTokenizerJson(std::move(file));
  return absl::InvalidArgumentError(absl::StrCat(
      file.name, ": not a tokenizer file that is known. Known: tokenizer.json (Hugging Face), "
                 "tekken.json (Mistral), SentencePiece models, and tiktoken files, whose lines are "
                 "\"BASE64 RANK\"."));
}

} // namespace weft
