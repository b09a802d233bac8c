//===- IndexedDatasetWriter.cpp - Writes PREFIX.bin and PREFIX.idx --------===//
//
// Tokens are narrowed block by block and go straight to the .bin; only 4 bytes a sequence and 8 a document
// stay in memory until the index is written.
//
//===----------------------------------------------------------------------===//
#include "runtime/data/IndexedDatasetWriter.h"

#include "runtime/data/FileError.h"

#include "absl/status/status.h"

#include <algorithm>
#include <cerrno>
#include <unistd.h>
#include <utility>

namespace weft {
namespace {

constexpr size_t blockTokens = size_t{1} << 16;

template <typename T> void narrow(std::span<const int32_t> tokens, std::byte *out) {
  for (size_t i = 0; i < tokens.size(); ++i) {
    T token = static_cast<T>(tokens[i]);
    std::memcpy(out + i * sizeof(T), &token, sizeof(T));
  }
}

void narrow(TokenType type, std::span<const int32_t> tokens, std::byte *out) {
  switch (type) {
  case TokenType::U8:
  case TokenType::I8:
    return narrow<uint8_t>(tokens, out);
  case TokenType::U16:
  case TokenType::I16:
    return narrow<uint16_t>(tokens, out);
  case TokenType::I32:
    return narrow<int32_t>(tokens, out);
  case TokenType::I64:
    return narrow<int64_t>(tokens, out);
  }
}

} // namespace

absl::StatusOr<IndexedDatasetWriter> IndexedDatasetWriter::create(const std::string &prefix, TokenType type,
                                                                  int32_t sequenceLimit) {
  absl::StatusOr<AtomicFile> bin = AtomicFile::create(prefix + ".bin");
  if (!bin.ok())
    return bin.status();
  absl::StatusOr<AtomicFile> idx = AtomicFile::create(prefix + ".idx");
  if (!idx.ok())
    return idx.status();
  return IndexedDatasetWriter(prefix, type, sequenceLimit, std::move(*bin), std::move(*idx));
}

IndexedDatasetWriter::IndexedDatasetWriter(std::string prefix, TokenType type, int32_t sequenceLimit,
                                           AtomicFile bin, AtomicFile idx)
    : prefix(std::move(prefix)), type(type), sequenceLimit(sequenceLimit), bin(std::move(bin)),
      idx(std::move(idx)), narrowed(blockTokens * byteSize(type)) {}

absl::Status IndexedDatasetWriter::appendTokens(std::span<const int32_t> tokens) {
  if (!inDocument) {
    documentBegins.push_back(static_cast<int64_t>(sequenceLengths.size()));
    inDocument = true;
  }
  while (!tokens.empty()) {
    if (openSequenceTokens == sequenceLimit) {
      sequenceLengths.push_back(sequenceLimit);
      openSequenceTokens = 0;
    }
    size_t room = static_cast<size_t>(sequenceLimit - openSequenceTokens);
    std::span<const int32_t> part = tokens.first(std::min({tokens.size(), room, blockTokens}));
    if (absl::Status status = appendToBin(part); !status.ok())
      return status;
    openSequenceTokens += static_cast<int64_t>(part.size());
    tokens = tokens.subspan(part.size());
  }
  return absl::OkStatus();
}

absl::Status IndexedDatasetWriter::appendToBin(std::span<const int32_t> tokens) {
  narrow(type, tokens, narrowed.data());
  tokenCount += static_cast<int64_t>(tokens.size());
  return bin.append(narrowed.data(), tokens.size() * static_cast<size_t>(byteSize(type)));
}

void IndexedDatasetWriter::endDocument() {
  if (!inDocument)
    return;
  sequenceLengths.push_back(static_cast<int32_t>(openSequenceTokens));
  openSequenceTokens = 0;
  inDocument = false;
}

absl::Status IndexedDatasetWriter::commit() {
  endDocument();
  std::vector<std::byte> bytes = indexBytes(type, sequenceLengths, documentBegins);
  if (absl::Status status = idx.append(bytes.data(), bytes.size()); !status.ok())
    return status;
  if (absl::Status status = idx.sync(); !status.ok())
    return status;
  if (absl::Status status = bin.sync(); !status.ok())
    return status;
  std::string oldIndex = prefix + ".idx";
  if (::unlink(oldIndex.c_str()) != 0 && errno != ENOENT)
    return fileError(oldIndex, "remove the old index", errno);
  if (absl::Status status = syncFolderOf(oldIndex); !status.ok())
    return status;
  if (absl::Status status = bin.commit(); !status.ok())
    return status;
  return idx.commit();
}

} // namespace weft
