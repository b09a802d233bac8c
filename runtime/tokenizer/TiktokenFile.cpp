//===- TiktokenFile.cpp - Tokens in base64, each with its rank ------------===//
//
// A tiktoken file has the tokens alone: ranks are ids, and there is no word of how text is split, which the
// run file must say, nor of special tokens. Their ids may lie anywhere that no token has.
//
//===----------------------------------------------------------------------===//
#include "runtime/tokenizer/RankTokenizer.h"

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace weft {
namespace {

struct TiktokenLine {
  std::string bytes;
  int32_t rank = 0;
};

std::optional<TiktokenLine> readLine(std::string_view line) {
  const size_t space = line.find(' ');
  TiktokenLine read;
  if (space == std::string_view::npos)
    return std::nullopt;
  const std::string_view rank = line.substr(space + 1);
  const auto [end, error] = std::from_chars(rank.data(), rank.data() + rank.size(), read.rank);
  const bool isRank = error == std::errc() && end == rank.data() + rank.size() && read.rank >= 0;
  if (!isRank || !absl::Base64Unescape(std::string(line.substr(0, space)), &read.bytes) || read.bytes.empty())
    return std::nullopt;
  return read;
}

std::string_view firstLine(std::string_view text) {
  std::string_view line = text.substr(0, text.find('\n'));
  if (line.ends_with('\r'))
    line.remove_suffix(1);
  return line;
}

absl::StatusOr<std::vector<std::string>> readTokens(const TokenizerFile &file) {
  std::vector<std::string> tokens;
  std::string_view rest = file.contents;
  for (int64_t number = 1; !rest.empty(); ++number) {
    const auto error = [&](const auto &...what) {
      return absl::InvalidArgumentError(absl::StrCat(file.name, ":", number, ": ", what...));
    };
    const std::string_view line = firstLine(rest);
    rest.remove_prefix(std::min(rest.find('\n'), rest.size() - 1) + 1);
    if (line.empty())
      continue;
    std::optional<TiktokenLine> read = readLine(line);
    if (!read)
      return error("expected the base64 of a token, a space and its rank, got \"",
                   absl::CHexEscape(std::string(line.substr(0, 60))), "\"");
    if (static_cast<size_t>(read->rank) > file.contents.size())
      return error("rank ", read->rank, " is beyond all tokens that a file of ", file.contents.size(),
                   " bytes can have");
    if (tokens.size() <= static_cast<size_t>(read->rank))
      tokens.resize(static_cast<size_t>(read->rank) + 1);
    std::string &token = tokens[static_cast<size_t>(read->rank)];
    if (!token.empty())
      return error("rank ", read->rank, " comes twice");
    token = std::move(read->bytes);
  }
  return tokens;
}

} // namespace

bool isTiktoken(std::string_view contents) { return readLine(firstLine(contents)).has_value(); }

absl::StatusOr<std::unique_ptr<Tokenizer>> readTiktoken(TokenizerFile file) {
  absl::StatusOr<std::vector<std::string>> tokens = readTokens(file);
  if (!tokens.ok())
    return tokens.status();
  if (file.pattern.empty())
    return absl::InvalidArgumentError(
        absl::StrCat(file.name,
                     ": a tiktoken file does not say how text is split. Give tokenizer.pattern: the regular "
                     "expression that its package has, or the name of one of ",
                     wellKnownPatternNames(RegexDialect::Rust), "."));
  const std::string_view named = wellKnownPattern(file.pattern, RegexDialect::Rust);
  std::string pattern(named.empty() ? file.pattern : named);
  return RankTokenizer::create(std::move(file), *std::move(tokens), std::move(pattern));
}

} // namespace weft
