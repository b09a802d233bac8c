//===- SentencePieceTokenizer.cpp - The tokenizer of a SentencePiece model ===//
//
// The text of each id is asked of the library once, as the first of a text and behind others.
//
//===----------------------------------------------------------------------===//
#include "runtime/tokenizer/SentencePieceTokenizer.h"

#include "runtime/support/Concat.h"
#include "runtime/tokenizer/ByteAlphabet.h"
#include "runtime/tokenizer/Utf8Text.h"

#include "absl/status/status.h"
#include "absl/strings/str_replace.h"

#include <optional>
#include <utility>

namespace weft {

bool isSentencePiece(std::string_view contents) {
  // Field 1 of the model, a piece, whose field 1 is its spelling.
  constexpr char firstField = 0x0A;
  return contents.size() > 3 && contents[0] == firstField && contents[2] == firstField &&
         static_cast<unsigned char>(contents[1]) < 0x80;
}

/// The id that ends a document: the token called `name`, else the model's own end of a sentence.
static absl::StatusOr<int32_t> findEnd(const SentencePieceModel &model, const std::string &name) {
  if (name.empty() && model.endId() >= 0)
    return model.endId();
  for (int32_t id = 0; id < model.size(); ++id)
    if (!name.empty() && model.spelling(id) == name)
      return model.isControl(id) ? absl::StatusOr<int32_t>(id)
                                 : absl::InvalidArgumentError(concat("tokenizer.end_of_document: \"", name,
                                                                     "\" is no control symbol of the model"));
  return absl::InvalidArgumentError(
      name.empty()
          ? "which token ends a document? The model has no end of a sentence: give tokenizer.end_of_document."
          : concat("tokenizer.end_of_document: no token is called \"", name, "\""));
}

absl::StatusOr<std::unique_ptr<Tokenizer>> SentencePieceTokenizer::create(TokenizerFile file) {
  const auto error = [&](std::string_view message) {
    return absl::InvalidArgumentError(concat(file.name, ": ", message));
  };
  if (!file.pattern.empty() || !file.specialTokens.empty())
    return error("a SentencePiece model says itself how text is split and which tokens are special: remove "
                 "tokenizer.pattern and tokenizer.special_tokens");
  SentencePieceModel model;
  if (std::string problem = model.load(file.contents); !problem.empty())
    return error(concat("not a SentencePiece model: ", problem));
  absl::StatusOr<int32_t> endId = findEnd(model, file.endOfDocument);
  if (!endId.ok())
    return error(std::string(endId.status().message()));
  return std::unique_ptr<Tokenizer>(new SentencePieceTokenizer(std::move(file), std::move(model), *endId));
}

SentencePieceTokenizer::SentencePieceTokenizer(TokenizerFile given, SentencePieceModel loaded, int32_t endId)
    : file(std::move(given)), model(std::move(loaded)), endId(endId) {
  for (int32_t id = 0; id < model.size(); ++id) {
    const std::string spelling = model.spelling(id);
    std::string text;
    std::string first;
    if (std::optional<char> byte = byteOfFallback(spelling); byte.has_value() && model.isByte(id)) {
      text = first = std::string(1, *byte);
    } else if (model.isUnknown(id)) {
      text = first = model.firstText(id);
    } else if (!model.isControl(id)) {
      text = absl::StrReplaceAll(spelling, {{"\xE2\x96\x81", " "}});
      first = model.firstText(id);
    }
    texts.push_back(std::move(text));
    firstTexts.push_back(std::move(first));
  }
}

absl::Status SentencePieceTokenizer::encode(std::string_view text, const EncodeOptions &options,
                                            std::vector<int32_t> &ids, Tokenizer::Scratch &) const {
  if (options.readsSpecialTokens || options.addsSpecialTokens)
    return absl::UnimplementedError(concat(
        file.name, ": a SentencePiece model has no special tokens to read from a text or to add to it"));
  const std::string problem =
      isWellFormedUtf8(text) ? model.encode(text, ids) : model.encode(replaceMalformedUtf8(text), ids);
  return problem.empty() ? absl::OkStatus() : absl::ResourceExhaustedError(concat(file.name, ": ", problem));
}

absl::StatusOr<std::string_view> SentencePieceTokenizer::bytesOf(int32_t id) const {
  if (id < 0 || id >= vocabularySize())
    return absl::NotFoundError(
        concat("id ", id, " is outside of the vocabulary of ", vocabularySize(), " ids"));
  return std::string_view(texts[static_cast<size_t>(id)]);
}

absl::StatusOr<std::string_view> SentencePieceTokenizer::firstBytesOf(int32_t id) const {
  if (id < 0 || id >= vocabularySize())
    return bytesOf(id);
  return std::string_view(firstTexts[static_cast<size_t>(id)]);
}

} // namespace weft
