//===- IndexedDatasetWriter.cpp - Writes PREFIX.bin and PREFIX.idx --------===//
//
// Tokens go straight to the .bin, narrowed block by block unless they come as they are stored; the index
// stays in memory until the end.
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

} // namespace

void narrowTokens(TokenType type, std::span<const int32_t> tokens, std::byte *out) {
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

absl::StatusOr<IndexedDatasetWriter> IndexedDatasetWriter::create(const std::string &prefix, TokenType type,
                                                                  int32_t sequenceLimit) {
  absl::StatusOr<AtomicFile> bin = AtomicFile::create(prefix + ".bin");
  if (!bin.ok())
    return bin.status();
  return resume(prefix, type, *std::move(bin), SequenceIndex(sequenceLimit));
}

absl::StatusOr<IndexedDatasetWriter> IndexedDatasetWriter::resume(const std::string &prefix, TokenType type,
                                                                  AtomicFile bin, SequenceIndex index) {
  absl::StatusOr<AtomicFile> idx = AtomicFile::create(prefix + ".idx");
  if (!idx.ok())
    return idx.status();
  return IndexedDatasetWriter(prefix, type, std::move(bin), *std::move(idx), std::move(index));
}

IndexedDatasetWriter::IndexedDatasetWriter(std::string prefix, TokenType type, AtomicFile bin, AtomicFile idx,
                                           SequenceIndex index)
    : prefix(std::move(prefix)), type(type), bin(std::move(bin)), idx(std::move(idx)),
      index(std::move(index)), narrowed(blockTokens * byteSize(type)) {}

absl::Status IndexedDatasetWriter::appendTokens(std::span<const int32_t> tokens) {
  index.addTokens(static_cast<int64_t>(tokens.size()));
  while (!tokens.empty()) {
    std::span<const int32_t> part = tokens.first(std::min(tokens.size(), blockTokens));
    narrowTokens(type, part, narrowed.data());
    size_t bytes = part.size() * static_cast<size_t>(byteSize(type));
    if (absl::Status status = bin.append(narrowed.data(), bytes); !status.ok())
      return status;
    tokens = tokens.subspan(part.size());
  }
  return absl::OkStatus();
}

absl::Status IndexedDatasetWriter::appendStored(std::span<const std::byte> stored,
                                                std::span<const int64_t> documentTokens, int64_t openTokens) {
  index.add(documentTokens, openTokens);
  return bin.append(stored.data(), stored.size());
}

absl::Status IndexedDatasetWriter::commit() {
  endDocument();
  std::vector<std::byte> bytes = index.bytes(type);
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
