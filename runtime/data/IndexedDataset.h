//===- IndexedDataset.h - Prepared tokens, memory-mapped ------------------===//
//
// A dataset is `PREFIX.bin`, the tokens of all documents one behind the other, and `PREFIX.idx`, where each
// begins. To training it is one stream of tokens. Opening checks the index whole; reading tokens then needs
// no check but that they are in the vocabulary.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_DATA_INDEXEDDATASET_H
#define WEFT_RUNTIME_DATA_INDEXEDDATASET_H

#include "runtime/data/IndexFile.h"
#include "runtime/data/MappedFile.h"

#include "absl/status/statusor.h"

#include <cstdint>
#include <span>
#include <string>

namespace weft {

class IndexedDataset {
public:
  /// `path` is PREFIX, PREFIX.idx or PREFIX.bin.
  static absl::StatusOr<IndexedDataset> open(const std::string &path);

  /// The common part of the two file names.
  const std::string &prefix() const { return prefixPath; }
  const IndexView &index() const { return view; }
  int64_t tokens() const { return view.tokens(); }

  /// Copies tokens [begin, begin + out.size()) of the stream, which the caller keeps inside [0, tokens()].
  /// Fails, naming the token, when one is not in [0, vocabularySize). Allocates nothing unless it fails.
  absl::Status read(int64_t begin, std::span<int32_t> out, int32_t vocabularySize) const;

  /// A checksum of what training reads from it: the whole index, the size of the .bin and 1,024 evenly spaced
  /// blocks of it of 4 KiB, so all of it up to 4 MiB. Opening a terabyte must not read a terabyte.
  uint64_t checksum() const;

private:
  IndexedDataset(std::string prefix, MappedFile indexFile, MappedFile binFile, IndexView view);

  std::string prefixPath;
  MappedFile indexFile;
  MappedFile binFile;
  IndexView view;
};

/// PREFIX of a path that names a dataset in any of the three ways.
std::string datasetPrefix(const std::string &path);

} // namespace weft

#endif // WEFT_RUNTIME_DATA_INDEXEDDATASET_H
