//===- RankTokenizer.cpp - The tokenizer of a list of ranked tokens -------===//
//
// Between special tokens, where these are read at all, the engine encodes what the splitter cuts.
//
//===----------------------------------------------------------------------===//
#include "runtime/tokenizer/RankTokenizer.h"

#include "runtime/tokenizer/RegexSplitter.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include <utility>

namespace weft {
namespace {

struct RankScratch final : Tokenizer::Scratch {
  BytePairEncoding::Scratch encoding;
  std::unique_ptr<Splitter::Scratch> splitter;
};

} // namespace

RankTokenizer::RankTokenizer(TokenizerFile file, BytePairEncoding encoding,
                             std::unique_ptr<Splitter> splitter, SpecialTokens specialTokens, int32_t endId)
    : file(std::move(file)), encoding(std::move(encoding)), splitter(std::move(splitter)),
      specialTokens(std::move(specialTokens)), endId(endId),
      vocabulary(std::max(this->encoding.tokenCount(), this->specialTokens.largestId() + 1)) {}

absl::StatusOr<std::unique_ptr<Tokenizer>>
RankTokenizer::create(TokenizerFile file, std::vector<std::string> tokens, std::string pattern) {
  const auto named = [&](const absl::Status &status) {
    return absl::Status(status.code(), absl::StrCat(file.name, ": ", status.message()));
  };
  std::unique_ptr<Splitter> splitter = createWellKnownSplitter(std::span(&pattern, 1), RegexDialect::Rust);
  if (!splitter) {
    absl::StatusOr<std::unique_ptr<Splitter>> byRegex = createRegexSplitter(pattern, RegexDialect::Rust);
    if (!byRegex.ok())
      return absl::Status(byRegex.status().code(),
                          absl::StrCat("tokenizer.pattern: ", byRegex.status().message(),
                                       ". Known by name: ", wellKnownPatternNames(RegexDialect::Rust), "."));
    splitter = *std::move(byRegex);
  }
  absl::StatusOr<SpecialTokens> specialTokens = SpecialTokens::create(file.specialTokens, tokens);
  if (!specialTokens.ok())
    return named(specialTokens.status());
  absl::StatusOr<int32_t> endId = specialTokens->endOfDocument(file.endOfDocument);
  if (!endId.ok())
    return named(endId.status());
  absl::StatusOr<BytePairEncoding> encoding = BytePairEncoding::createFromRanks(std::move(tokens));
  if (!encoding.ok())
    return named(encoding.status());
  return std::unique_ptr<Tokenizer>(new RankTokenizer(
      std::move(file), *std::move(encoding), std::move(splitter), *std::move(specialTokens), *endId));
}

std::unique_ptr<Tokenizer::Scratch> RankTokenizer::makeScratch() const {
  auto scratch = std::make_unique<RankScratch>();
  scratch->splitter = splitter->makeScratch();
  return scratch;
}

absl::Status RankTokenizer::encode(std::string_view text, const EncodeOptions &options,
                                   std::vector<int32_t> &ids, Tokenizer::Scratch &scratch) const {
  auto &own = static_cast<RankScratch &>(scratch);
  const auto encodeText = [&](std::string_view part) {
    return encoding.encode(part, *splitter, own.splitter.get(), ids, own.encoding);
  };
  if (!options.readsSpecialTokens)
    return encodeText(text);
  SpecialTokens::Finder finder(specialTokens, text);
  size_t position = 0;
  while (const std::optional<SpecialTokens::Match> match = finder.next(position)) {
    if (absl::Status status = encodeText(text.substr(position, match->begin - position)); !status.ok())
      return status;
    ids.push_back(match->id);
    position = match->end;
  }
  return encodeText(text.substr(position));
}

absl::StatusOr<std::string_view> RankTokenizer::bytesOf(int32_t id) const {
  if (id < 0 || id >= vocabulary)
    return absl::NotFoundError(
        absl::StrCat("id ", id, " is outside of the vocabulary of ", vocabulary, " ids"));
  if (id == endId)
    return std::string_view();
  if (const std::string *special = specialTokens.find(id))
    return std::string_view(*special);
  return id < encoding.tokenCount() ? encoding.bytesOf(id) : std::string_view();
}

} // namespace weft
