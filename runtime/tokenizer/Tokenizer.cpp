//===- Tokenizer.cpp - Text to token ids and back -------------------------===//
//
// What all tokenizers share: decoding by the bytes of each id, and the blob, whose first line
// `weft-tokenizer <version> <kind>` says who reads the rest.
//
//===----------------------------------------------------------------------===//
#include "runtime/tokenizer/Tokenizer.h"

#include "runtime/support/FileText.h"
#include "runtime/tokenizer/BytesTokenizer.h"
#include "runtime/tokenizer/TokenizerFile.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include <xxhash.h>

#include <utility>

namespace weft {
namespace {

constexpr std::string_view blobPrefix = "weft-tokenizer ";
constexpr std::string_view blobVersion = "1";
constexpr size_t largestFile = size_t{1} << 30;

} // namespace

absl::StatusOr<std::vector<int32_t>> Tokenizer::encode(std::string_view text,
                                                       const EncodeOptions &options) const {
  std::vector<int32_t> ids;
  std::unique_ptr<Scratch> scratch = makeScratch();
  if (absl::Status status = encode(text, options, ids, *scratch); !status.ok())
    return status;
  return ids;
}

absl::StatusOr<std::string_view> Tokenizer::nextBytesOf(int32_t id, bool &isFirst) const {
  absl::StatusOr<std::string_view> bytes = bytesOf(id);
  if (!bytes.ok() || bytes->empty() || !std::exchange(isFirst, false))
    return bytes;
  return firstBytesOf(id);
}

absl::StatusOr<std::string> Tokenizer::decode(std::span<const int32_t> ids) const {
  std::string text;
  bool isFirst = true;
  for (size_t i = 0; i < ids.size(); ++i) {
    absl::StatusOr<std::string_view> bytes = nextBytesOf(ids[i], isFirst);
    if (!bytes.ok())
      return absl::NotFoundError(
          absl::StrCat("token ", i, " of ", ids.size(), ": ", bytes.status().message()));
    text.append(*bytes);
  }
  return text;
}

std::string Tokenizer::serialize() const {
  std::string blob(blobPrefix);
  blob.append(blobVersion).append(" ").append(kind()).append("\n").append(payload());
  return blob;
}

uint64_t Tokenizer::checksum() const {
  std::string blob = serialize();
  return XXH64(blob.data(), blob.size(), 0);
}

absl::StatusOr<std::unique_ptr<Tokenizer>> createTokenizer(const TokenizerConfig &config) {
  if (config.file.empty())
    return std::make_unique<BytesTokenizer>();
  absl::StatusOr<std::string> contents = readFileText(config.file, largestFile);
  if (!contents.ok())
    return contents.status();
  return readTokenizerFile({.name = config.file,
                            .contents = *std::move(contents),
                            .pattern = config.pattern,
                            .specialTokens = config.specialTokens,
                            .endOfDocument = config.endOfDocument});
}

absl::Status checkVocabulary(const Tokenizer &tokenizer, const Config &config) {
  if (!config.model.program.empty() || config.model.vocabSize >= tokenizer.vocabularySize())
    return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "model.vocab_size: ", config.model.vocabSize, " is less than the ", tokenizer.vocabularySize(),
      " ids of the tokenizer. Works: ", tokenizer.vocabularySize(), " or more."));
}

/// The tokenizer of a blob's kind and payload.
static absl::StatusOr<std::unique_ptr<Tokenizer>> loadKind(std::string_view kind, std::string_view payload) {
  if (kind == BytesTokenizer::kindName)
    return std::make_unique<BytesTokenizer>();
  if (kind != TokenizerFile::kindName)
    return absl::InvalidArgumentError(
        absl::StrCat("tokenizer: a blob of kind \"", std::string(kind), "\". Known: bytes, file."));
  absl::StatusOr<TokenizerFile> file = TokenizerFile::fromPayload(payload);
  if (!file.ok())
    return file.status();
  return readTokenizerFile(*std::move(file));
}

absl::StatusOr<std::unique_ptr<Tokenizer>> loadTokenizer(std::string_view blob) {
  size_t lineEnd = blob.find('\n');
  if (!blob.starts_with(blobPrefix) || lineEnd == std::string_view::npos)
    return absl::DataLossError("tokenizer: the blob does not begin with a line \"weft-tokenizer 1 KIND\"");
  std::string_view header = blob.substr(blobPrefix.size(), lineEnd - blobPrefix.size());
  size_t space = header.find(' ');
  std::string_view version = header.substr(0, space);
  if (space == std::string_view::npos || version != blobVersion)
    return absl::FailedPreconditionError(absl::StrCat("tokenizer: blob of version \"", std::string(version),
                                                      "\", this program reads version ",
                                                      std::string(blobVersion)));
  absl::StatusOr<std::unique_ptr<Tokenizer>> tokenizer =
      loadKind(header.substr(space + 1), blob.substr(lineEnd + 1));
  if (!tokenizer.ok())
    return tokenizer.status();
  if ((*tokenizer)->serialize() != blob)
    return absl::DataLossError(absl::StrCat("tokenizer: a blob of kind ", (*tokenizer)->kind(), " carries ",
                                            blob.size() - lineEnd - 1,
                                            " bytes of payload that this kind does not have"));
  return tokenizer;
}

} // namespace weft
