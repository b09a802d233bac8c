//===- BytePairFuzzer.cpp - Any vocabulary, any piece ---------------------===//
//
// Lines up to the first NUL byte are tokens in the order of their ranks, behind the 256 bytes; the rest is a
// piece. The rule of byte-pair encoding, written down in the most plain way, judges the engine, whichever way
// it takes. And a tiktoken file with these tokens must be read, and give the same ids.
//
//===----------------------------------------------------------------------===//
#include "runtime/tokenizer/BytePairEncoding.h"
#include "runtime/tokenizer/TokenizerFile.h"
#include "tests/fuzz/Require.h"

#include "absl/strings/escaping.h"

#include <algorithm>
#include <map>

using namespace weft;

namespace {
constexpr size_t mostTokens = 300;
constexpr size_t longestPiece = 400;

using Ranks = std::map<std::string, int32_t>;

std::vector<std::string> readTokens(std::string_view lines, Ranks &ranks) {
  std::vector<std::string> tokens;
  const auto add = [&](const std::string &token) {
    if (!token.empty() && ranks.emplace(token, static_cast<int32_t>(tokens.size())).second)
      tokens.push_back(token);
  };
  for (int byte = 0; byte < 256; ++byte)
    add(std::string(1, static_cast<char>(byte)));
  while (!lines.empty() && tokens.size() < 256 + mostTokens) {
    const size_t end = std::min(lines.find('\n'), lines.size());
    add(std::string(lines.substr(0, end)));
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  return tokens;
}

std::vector<int32_t> encodePlainly(const Ranks &ranks, std::string_view piece) {
  if (const auto whole = ranks.find(std::string(piece)); whole != ranks.end())
    return {whole->second};
  std::vector<std::string> parts;
  for (char byte : piece)
    parts.emplace_back(1, byte);
  while (true) {
    size_t best = 0;
    int32_t lowest = static_cast<int32_t>(ranks.size());
    for (size_t i = 0; i + 1 < parts.size(); ++i)
      if (const auto found = ranks.find(parts[i] + parts[i + 1]);
          found != ranks.end() && found->second < lowest) {
        lowest = found->second;
        best = i;
      }
    if (lowest == static_cast<int32_t>(ranks.size()))
      break;
    parts[best] += parts[best + 1];
    parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(best) + 1);
  }
  std::vector<int32_t> ids;
  for (const std::string &part : parts)
    ids.push_back(ranks.at(part));
  return ids;
}

void checkFile(const std::vector<std::string> &tokens, std::string_view piece) {
  TokenizerFile file{.name = "fuzz",
                     .contents = "",
                     .pattern = "gpt2",
                     .specialTokens = {{"<end>", 1000}},
                     .endOfDocument = ""};
  for (size_t i = 0; i < tokens.size(); ++i)
    file.contents += absl::Base64Escape(tokens[i]) + " " + std::to_string(i) + "\n";
  absl::StatusOr<std::unique_ptr<Tokenizer>> tokenizer = readTokenizerFile(std::move(file));
  require(tokenizer.ok(), "a good file was refused");
  absl::StatusOr<std::vector<int32_t>> ids = (*tokenizer)->encode(piece);
  require(ids.ok() && *(*tokenizer)->decode(*ids) == piece, "a text does not come back");
}
} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const std::string_view input(reinterpret_cast<const char *>(data), size);
  const size_t end = std::min(input.find('\0'), input.size());
  const std::string_view piece = input.substr(std::min(end + 1, input.size())).substr(0, longestPiece);
  Ranks ranks;
  const std::vector<std::string> tokens = readTokens(input.substr(0, end), ranks);
  absl::StatusOr<BytePairEncoding> encoding = BytePairEncoding::createFromRanks(tokens);
  require(encoding.ok(), "a good vocabulary was refused");
  BytePairEncoding::Scratch scratch;
  std::vector<int32_t> ids;
  encoding->encode(piece, ids, scratch);
  require(piece.empty() ? ids.empty() : ids == encodePlainly(ranks, piece), "other ids than the rule gives");
  encoding->encode(piece, ids, scratch);
  require(std::equal(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(ids.size() / 2),
                     ids.begin() + static_cast<std::ptrdiff_t>(ids.size() / 2), ids.end()),
          "the second time other ids");
  checkFile(tokens, piece);
  return 0;
}
