//===- IndexedDataset.cpp - Prepared tokens, memory-mapped ----------------===//
//
// Tokens are copied and range-checked in one pass: an unsigned maximum, so that negative ids are out of range
// too.
//
//===----------------------------------------------------------------------===//
#include "runtime/data/IndexedDataset.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include <xxhash.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace weft {
namespace {

/// Widens `out.size()` tokens of type T; true when all are below `limit`.
template <typename T> bool widen(const std::byte *from, std::span<int32_t> out, int32_t limit) {
  uint64_t largest = 0;
  for (size_t i = 0; i < out.size(); ++i) {
    T token;
    std::memcpy(&token, from + i * sizeof(T), sizeof(T));
    largest = std::max(largest, static_cast<uint64_t>(static_cast<int64_t>(token)));
    out[i] = static_cast<int32_t>(token);
  }
  return largest < static_cast<uint64_t>(limit);
}

bool widen(TokenType type, const std::byte *from, std::span<int32_t> out, int32_t limit) {
  switch (type) {
  case TokenType::U8:
    return widen<uint8_t>(from, out, limit);
  case TokenType::I8:
    return widen<int8_t>(from, out, limit);
  case TokenType::I16:
    return widen<int16_t>(from, out, limit);
  case TokenType::U16:
    return widen<uint16_t>(from, out, limit);
  case TokenType::I32:
    return widen<int32_t>(from, out, limit);
  case TokenType::I64:
    return widen<int64_t>(from, out, limit);
  }
  return false;
}

} // namespace

std::string datasetPrefix(const std::string &path) {
  bool hasSuffix = path.ends_with(".idx") || path.ends_with(".bin");
  return hasSuffix ? path.substr(0, path.size() - 4) : path;
}

IndexedDataset::IndexedDataset(std::string prefix, MappedFile indexFile, MappedFile binFile, IndexView view)
    : prefixPath(std::move(prefix)), indexFile(std::move(indexFile)), binFile(std::move(binFile)),
      view(view) {}

absl::StatusOr<IndexedDataset> IndexedDataset::open(const std::string &path) {
  std::string prefix = datasetPrefix(path);
  std::string indexPath = prefix + ".idx";
  absl::StatusOr<MappedFile> indexFile = MappedFile::open(indexPath);
  if (!indexFile.ok())
    return indexFile.status();
  absl::StatusOr<MappedFile> binFile = MappedFile::open(prefix + ".bin");
  if (!binFile.ok())
    return binFile.status();
  absl::StatusOr<IndexView> view =
      parseIndex(indexFile->bytes(), static_cast<int64_t>(binFile->bytes().size()), indexPath);
  if (!view.ok())
    return view.status();
  return IndexedDataset(std::move(prefix), std::move(*indexFile), std::move(*binFile), *view);
}

absl::Status IndexedDataset::read(int64_t begin, std::span<int32_t> out, int32_t vocabularySize) const {
  int64_t tokenBytes = byteSize(view.tokenType());
  const std::byte *from = binFile.bytes().data() + begin * tokenBytes;
  if (widen(view.tokenType(), from, out, vocabularySize))
    return absl::OkStatus();
  for (size_t i = 0; i < out.size(); ++i)
    if (!widen(view.tokenType(), from + static_cast<int64_t>(i) * tokenBytes, out.subspan(i, 1),
               vocabularySize))
      return absl::OutOfRangeError(absl::StrCat(
          prefixPath, ".bin: token ", begin + static_cast<int64_t>(i), " is outside of the vocabulary of ",
          vocabularySize, " ids. The data was prepared with another tokenizer: prepare it again."));
  return absl::OkStatus();
}

uint64_t IndexedDataset::checksum() const {
  constexpr int64_t blocks = 1024;
  constexpr int64_t blockBytes = 4096;
  std::span<const std::byte> index = indexFile.bytes();
  std::span<const std::byte> bin = binFile.bytes();
  int64_t size = static_cast<int64_t>(bin.size());
  uint64_t sum = XXH64(index.data(), index.size(), bin.size());
  int64_t stride = std::max(blockBytes, size / blocks);
  for (int64_t offset = 0; offset < size; offset += stride)
    sum = XXH64(bin.data() + offset, static_cast<size_t>(std::min(blockBytes, size - offset)), sum);
  return sum;
}

} // namespace weft
