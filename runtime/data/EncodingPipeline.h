//===- EncodingPipeline.h - A corpus encoded on all cores, in order -------===//
//
// Some threads read files ahead and cut them into units of about 256 KiB, more threads encode the units, and
// the caller takes the results in the order of the corpus. What comes out is a function of the corpus alone:
// threads only decide who does the work and when. Memory is bounded by a number of units, not by files.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_DATA_ENCODINGPIPELINE_H
#define WEFT_RUNTIME_DATA_ENCODINGPIPELINE_H

#include "runtime/data/EncodedPieces.h"

#include "absl/status/statusor.h"

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace weft {

struct EncodingOptions {
  int64_t threads = 1; ///< that encode
  TokenType type = TokenType::I32;
  std::string jsonKey;
  SourcePosition begin; ///< where in the corpus to begin
};

class EncodingPipeline {
public:
  /// `files` and `tokenizer` must outlive the pipeline.
  EncodingPipeline(const std::vector<SourceFile> &files, const Tokenizer &tokenizer,
                   const EncodingOptions &options);
  /// Ends at once, whatever is still to do.
  ~EncodingPipeline();
  EncodingPipeline(const EncodingPipeline &) = delete;
  EncodingPipeline &operator=(const EncodingPipeline &) = delete;

  /// The next pieces of the corpus; none at its end. Of several errors the first of the corpus is told.
  absl::StatusOr<std::optional<EncodedPieces>> next();

private:
  struct Unit {
    std::vector<SourcePiece> pieces;
    absl::Status readError; ///< of what follows the pieces
    EncodedPieces result;
    absl::Status status;
    bool isDone = false;
  };
  /// Files that one thread reads one after the other: a big one, or several small ones.
  struct Batch {
    int64_t firstFile = 0;
    int64_t endFile = 0;
    std::deque<std::unique_ptr<Unit>> units; ///< read and not yet taken by the caller
    bool isRead = false;
  };

  void read();
  void readBatch(size_t number);
  bool push(size_t batch, std::unique_ptr<Unit> unit);
  void encode();

  const std::vector<SourceFile> &files;
  const Tokenizer &tokenizer;
  EncodingOptions options;

  std::mutex mutex;
  std::condition_variable roomCame;   ///< for readers
  std::condition_variable workCame;   ///< for encoders
  std::condition_variable resultCame; ///< for the caller
  std::deque<Batch> batches;
  size_t nextBatch = 0;    ///< to read
  size_t currentBatch = 0; ///< that the caller takes from
  size_t unitsAhead = 0;   ///< in all batches
  std::deque<Unit *> waiting;
  size_t unitLimit = 0;
  bool isStopping = false;
  std::vector<std::thread> workers;
};

} // namespace weft

#endif // WEFT_RUNTIME_DATA_ENCODINGPIPELINE_H
