//===- HuggingFaceTokenizer.cpp - The tokenizer of a tokenizer.json -------===//
//
// A text goes through the pipeline segment by segment. Where the pre-tokenizers are those of a well-known
// tokenizer, the engine cuts by a matcher of its own instead of running them.
//
//===----------------------------------------------------------------------===//
#include "runtime/tokenizer/HuggingFaceTokenizer.h"

#include "runtime/support/Concat.h"
#include "runtime/tokenizer/Utf8Text.h"

#include "absl/status/status.h"

#include <algorithm>
#include <utility>

namespace weft {

struct HuggingFaceTokenizer::Scratch final : Tokenizer::Scratch {
  BytePairEncoding::Scratch model;
  Regex::Scratch regex;
  std::unique_ptr<Splitter::Scratch> splitter;
};

/// The matcher that does what the pre-tokenizers do, or null.
static std::unique_ptr<Splitter> wellKnownSplitterOf(const PreTokenizers &preTokenizers) {
  if (!preTokenizers.endsInBytes)
    return nullptr;
  std::vector<std::string> patterns;
  for (const std::unique_ptr<PreTokenizer> &stage : preTokenizers.stages) {
    if (stage->isolatedPattern().empty())
      return nullptr;
    patterns.emplace_back(stage->isolatedPattern());
  }
  return patterns.empty() ? nullptr : createWellKnownSplitter(patterns, RegexDialect::Oniguruma);
}

HuggingFaceTokenizer::HuggingFaceTokenizer(Parts given)
    : parts(std::move(given)), splitter(wellKnownSplitterOf(parts.preTokenizers)) {}

std::unique_ptr<Tokenizer::Scratch> HuggingFaceTokenizer::makeScratch() const {
  auto scratch = std::make_unique<Scratch>();
  if (splitter)
    scratch->splitter = splitter->makeScratch();
  return scratch;
}

absl::Status HuggingFaceTokenizer::encode(std::string_view text, const EncodeOptions &options,
                                          std::vector<int32_t> &ids, Tokenizer::Scratch &scratch) const {
  auto &own = static_cast<Scratch &>(scratch);
  const bool keepsBytes = parts.preTokenizers.endsInBytes && parts.normalizer == nullptr;
  bool isWellFormed = isWellFormedUtf8(text);
  std::string replaced;
  if (!isWellFormed && !keepsBytes) {
    replaced = replaceMalformedUtf8(text);
    text = replaced;
    isWellFormed = true;
  }
  const auto add = [&](const std::vector<int32_t> &more) {
    if (options.addsSpecialTokens)
      ids.insert(ids.end(), more.begin(), more.end());
  };
  add(parts.postProcessor.before);
  const TextPiece whole = {text, true, isWellFormed};
  absl::Status status = parts.verbatimTokens.forEachSegment(
      text, options.readsSpecialTokens, [&](size_t begin, size_t end, const AddedToken *token) {
        if (token == nullptr)
          return encodeBetween(whole.part(begin, end), options.readsSpecialTokens, ids, own);
        ids.push_back(token->id);
        return absl::OkStatus();
      });
  add(parts.postProcessor.after);
  return status;
}

/// Text between verbatim tokens.
absl::Status HuggingFaceTokenizer::encodeBetween(TextPiece piece, bool readsSpecial,
                                                 std::vector<int32_t> &ids, Scratch &scratch) const {
  if (parts.normalizer == nullptr)
    return encodeNormalized(piece, readsSpecial, ids, scratch);
  NormalizedText normalized = {std::string(piece.text), piece.isFirst};
  if (absl::Status status = parts.normalizer->apply(normalized, scratch.regex); !status.ok())
    return status;
  return encodeNormalized({normalized.text, normalized.isFirst, true}, readsSpecial, ids, scratch);
}

absl::Status HuggingFaceTokenizer::encodeNormalized(TextPiece piece, bool readsSpecial,
                                                    std::vector<int32_t> &ids, Scratch &scratch) const {
  return parts.normalizedTokens.forEachSegment(piece.text, readsSpecial,
                                               [&](size_t begin, size_t end, const AddedToken *token) {
                                                 if (token == nullptr)
                                                   return encodePiece(piece.part(begin, end), ids, scratch);
                                                 ids.push_back(token->id);
                                                 return absl::OkStatus();
                                               });
}

absl::Status HuggingFaceTokenizer::encodePiece(TextPiece piece, std::vector<int32_t> &ids,
                                               Scratch &scratch) const {
  if (splitter)
    return parts.model.encode(piece.text, *splitter, scratch.splitter.get(), ids, scratch.model);
  return parts.preTokenizers.split(piece, scratch.regex, [&](TextPiece part) {
    parts.model.encode(part.text, ids, scratch.model);
    return absl::OkStatus();
  });
}

size_t HuggingFaceTokenizer::independentPrefix(std::string_view text) const {
  if (!splitter || parts.normalizer != nullptr)
    return 0;
  const size_t prefix = splitter->independentPrefix(text);
  const bool mayCut =
      parts.verbatimTokens.mayCutAt(text, prefix) && parts.normalizedTokens.mayCutAt(text, prefix);
  return mayCut ? prefix : 0;
}

absl::StatusOr<std::string_view> HuggingFaceTokenizer::bytesOf(int32_t id) const {
  if (id < 0 || id >= vocabularySize())
    return absl::NotFoundError(
        concat("id ", id, " is outside of the vocabulary of ", vocabularySize(), " ids"));
  const std::optional<std::string> &text = parts.texts[static_cast<size_t>(id)];
  return text.has_value() ? std::string_view(*text) : std::string_view();
}

absl::StatusOr<std::string_view> HuggingFaceTokenizer::firstBytesOf(int32_t id) const {
  const auto found = parts.firstTexts.find(id);
  return found == parts.firstTexts.end() ? bytesOf(id) : std::string_view(found->second);
}

} // namespace weft
