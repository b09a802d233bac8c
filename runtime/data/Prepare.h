//===- Prepare.h - Text to tokens on the disk -----------------------------===//
//
// Documents are encoded one after the other, each closed by the end-of-document token, into PREFIX.bin and
// PREFIX.idx. Memory is bounded by the tokenizer's independent prefixes, not by the corpus. A preparation
// that is killed leaves no half dataset, and starting it again is safe: the files take their names only when
// they are whole.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_DATA_PREPARE_H
#define WEFT_RUNTIME_DATA_PREPARE_H

#include "runtime/data/SourceFiles.h"
#include "runtime/tokenizer/Tokenizer.h"

#include "absl/status/statusor.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace weft {

struct PrepareProgress {
  int64_t bytesRead = 0;  ///< of the files, compressed or not
  int64_t bytesTotal = 0; ///< the same, when all is done
  int64_t documents = 0;
  int64_t tokens = 0;
  double seconds = 0;
  double secondsLeft = 0; ///< estimated from the speed so far
};

struct PrepareOptions {
  std::string jsonKey = "text"; ///< where the text of a JSONL line is
  /// Called about every fifth of a second, and once at the end.
  std::function<void(const PrepareProgress &)> onProgress;
};

struct PrepareResult {
  int64_t documents = 0;
  int64_t tokens = 0;
  int64_t textBytes = 0;      ///< uncompressed
  int64_t emptyDocuments = 0; ///< left out
  int64_t files = 0;
  double seconds = 0;
};

/// Prepares all of `paths` (files and folders), in order, into PREFIX.bin and PREFIX.idx, whose folder
/// exists.
absl::StatusOr<PrepareResult> prepareData(const std::vector<std::string> &paths, const std::string &prefix,
                                          const Tokenizer &tokenizer, const PrepareOptions &options);

/// Whether `path` names a dataset that is prepared already: PREFIX, PREFIX.idx or PREFIX.bin.
bool isDataset(const std::string &path);

/// The dataset of `path`, which may be one already (PREFIX, PREFIX.idx or PREFIX.bin): then it is itself.
/// Text and JSONL are prepared into `cacheFolder`, made if need be, unless that holds the very same corpus:
/// same file names, sizes and times, tokenizer and key. Returns the prefix.
absl::StatusOr<std::string> prepareIntoCache(const std::string &path, const std::string &cacheFolder,
                                             const Tokenizer &tokenizer, const PrepareOptions &options);

} // namespace weft

#endif // WEFT_RUNTIME_DATA_PREPARE_H
