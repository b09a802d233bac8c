//===- Prepare.h - Text to tokens on the disk -----------------------------===//
//
// Documents are encoded on all cores, each closed by the end-of-document token, into PREFIX.bin and
// PREFIX.idx, whose bytes are a function of the corpus and the tokenizer alone. The files take their names
// only when they are whole. A preparation that is killed or stopped leaves its whole parts in PREFIX.bin.tmp
// and PREFIX.bin.journal; the same one started again goes on behind them. Memory is bounded by the
// tokenizer's independent prefixes, not by the corpus.
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
  int64_t bytesRead = 0;  ///< of the files, compressed or not, by an earlier process too
  int64_t bytesTotal = 0; ///< the same, when all is done
  int64_t documents = 0;
  int64_t tokens = 0;
  double seconds = 0;
  double secondsLeft = 0; ///< estimated from the speed so far
};

struct PrepareOptions {
  std::string jsonKey = "text"; ///< where the text of a JSONL line is
  int64_t threads = 0;          ///< that encode; 0: as many as there are processors
  /// The work of about so many bytes of the .bin is lost at most when the process dies.
  int64_t partBytes = int64_t{8} << 20;
  /// Called about every fifth of a second, and once at the end.
  std::function<void(const PrepareProgress &)> onProgress;
  /// Told that a preparation goes on, or why it cannot.
  std::function<void(const std::string &)> onNotice;
  /// Asked often: when true, the preparation ends with CANCELLED and can go on later.
  std::function<bool()> shouldStop;
};

struct PrepareResult {
  int64_t documents = 0;
  int64_t tokens = 0;
  int64_t textBytes = 0;      ///< uncompressed
  int64_t emptyDocuments = 0; ///< left out
  int64_t files = 0;
  double seconds = 0;          ///< of this process
  int64_t textBytesBefore = 0; ///< of textBytes, those that an earlier process encoded
};

/// Prepares all of `paths` (files and folders), in order, into PREFIX.bin and PREFIX.idx, whose folder
/// exists. Sources that cannot be read as text leave nothing behind; whatever else goes wrong leaves what was
/// done, for the next attempt.
absl::StatusOr<PrepareResult> prepareData(const std::vector<std::string> &paths, const std::string &prefix,
                                          const Tokenizer &tokenizer, const PrepareOptions &options);

/// Whether `path` names a dataset that is prepared already: PREFIX, PREFIX.idx or PREFIX.bin.
bool isDataset(const std::string &path);

/// The dataset of `path`, which may be one already (PREFIX, PREFIX.idx or PREFIX.bin): then it is itself,
/// unless it says that another tokenizer made it. Text and JSONL are prepared into `cacheFolder`, made if
/// need be, unless that holds the very same corpus: same file names, sizes and times, tokenizer and key.
/// Returns the prefix.
absl::StatusOr<std::string> prepareIntoCache(const std::string &path, const std::string &cacheFolder,
                                             const Tokenizer &tokenizer, const PrepareOptions &options);

} // namespace weft

#endif // WEFT_RUNTIME_DATA_PREPARE_H
