//===- Tokenizer.cpp - Text to token ids and back -------------------------===//
//
// What all tokenizers share: decoding by the bytes of each id, and the blob, whose first line
// `weft-tokenizer <version> <kind>` says who reads the rest.
//
//===----------------------------------------------------------------------===//
#include "runtime/tokenizer/Tokenizer.h"

#include "runtime/tokenizer/BytesTokenizer.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include <xxhash.h>

namespace weft {
namespace {

constexpr std::string_view blobPrefix = "weft-tokenizer ";
constexpr std::string_view blobVersion = "1";

} // namespace

absl::StatusOr<std::string> Tokenizer::decode(std::span<const int32_t> ids) const {
  std::string text;
  for (size_t i = 0; i < ids.size(); ++i) {
    absl::StatusOr<std::string_view> bytes = bytesOf(ids[i]);
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

absl::StatusOr<std::unique_ptr<Tokenizer>> createTokenizer(std::string_view kind) {
  if (kind == BytesTokenizer::kindName)
    return std::make_unique<BytesTokenizer>();
  return absl::InvalidArgumentError(
      absl::StrCat("tokenizer.kind: no tokenizer is called \"", std::string(kind), "\". Known: bytes."));
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
  absl::StatusOr<std::unique_ptr<Tokenizer>> tokenizer = createTokenizer(header.substr(space + 1));
  if (!tokenizer.ok())
    return tokenizer.status();
  if ((*tokenizer)->serialize() != blob)
    return absl::DataLossError(absl::StrCat("tokenizer: a blob of kind ", (*tokenizer)->kind(), " carries ",
                                            blob.size() - lineEnd - 1,
                                            " bytes of payload that this kind does not have"));
  return tokenizer;
}

} // namespace weft
