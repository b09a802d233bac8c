//===- TokenizerJson.cpp - Tokenizers whose file is JSON ------------------===//
//
// The keys of the outermost object tell the formats apart.
//
//===----------------------------------------------------------------------===//
#include "runtime/tokenizer/TokenizerJson.h"

#include "runtime/support/Concat.h"

#include "absl/status/status.h"

#include <utility>

namespace weft {

bool isTokenizerJson(std::string_view contents) {
  const size_t first = contents.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && contents[first] == '{';
}

static absl::StatusOr<std::unique_ptr<Tokenizer>> read(TokenizerFile file) {
  const nlohmann::json json = nlohmann::json::parse(file.contents, nullptr, false);
  if (json.is_discarded())
    return absl::InvalidArgumentError("begins like JSON, but is none. Is the file whole?");
  absl::StatusOr<JsonFields> fields = JsonFields::of(json, "");
  if (!fields.ok())
    return fields.status();
  if (fields->find("model") != nullptr)
    return readHuggingFaceTokenizer(std::move(file), *fields);
  if (fields->find("config") != nullptr && fields->find("vocab") != nullptr)
    return readTekken(std::move(file), *fields);
  return absl::InvalidArgumentError(
      "this JSON is neither a tokenizer.json (it has no \"model\") nor a tekken.json (it "
      "has no \"config\" and \"vocab\")");
}

absl::StatusOr<std::unique_ptr<Tokenizer>> readTokenizerJson(TokenizerFile file) {
  const std::string name = file.name;
  absl::StatusOr<std::unique_ptr<Tokenizer>> tokenizer = read(std::move(file));
  if (!tokenizer.ok())
    return absl::Status(tokenizer.status().code(), concat(name, ": ", tokenizer.status().message()));
  return tokenizer;
}

} // namespace weft
