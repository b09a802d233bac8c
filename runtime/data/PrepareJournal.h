//===- PrepareJournal.h - How far a preparation has come ------------------===//
//
// PREFIX.bin.journal stands beside PREFIX.bin.tmp while a dataset is prepared, and is locked meanwhile. Its
// head says of what (sources, tokenizer, key), and each record of one part: the place in the corpus where the
// part ends, the documents in it, and a checksum of its bytes in the .bin. A part counts when its record and
// its bytes both check out, so it does not matter what a dying process, or the machine, wrote last: the
// preparation goes on behind the last whole part. Nothing is ever synced for it.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_DATA_PREPAREJOURNAL_H
#define WEFT_RUNTIME_DATA_PREPAREJOURNAL_H

#include "runtime/data/AtomicFile.h"
#include "runtime/data/EncodedPieces.h"
#include "runtime/data/SequenceIndex.h"

#include "absl/status/statusor.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace weft {

/// What a dataset is made of. Two preparations with the same key write the same bytes.
struct PrepareKey {
  uint64_t sources = 0; ///< of all names, sizes and times
  uint64_t tokenizer = 0;
  uint64_t jsonKey = 0;
  TokenType type = TokenType::I32;
  bool operator==(const PrepareKey &) const = default;
};

/// What the whole parts add up to.
struct PreparedSoFar {
  SourcePosition position;
  int64_t binBytes = 0;
  int64_t textBytes = 0;
  int64_t emptyDocuments = 0;
  int64_t fileBytes = 0; ///< of the file that `position` is in, that are read
  SequenceIndex index;
};

class PrepareJournal {
public:
  /// Opens and locks `path`, made if need be.
  static absl::StatusOr<PrepareJournal> open(const std::string &path);

  /// Whether open() made it.
  bool isNew() const { return wasMade; }

  PrepareJournal(PrepareJournal &&other) noexcept;
  PrepareJournal &operator=(PrepareJournal &&) = delete;
  ~PrepareJournal();

  /// Reads what an earlier preparation of the same key left here and in `bin`, cuts both behind the last
  /// whole part, and adds it all up. A journal of another key, or a damaged one, counts for nothing.
  absl::StatusOr<PreparedSoFar> resume(const PrepareKey &key, AtomicFile &bin);
  /// What resume() had to throw away, and why; empty when that was nothing.
  const std::string &whyAnew() const { return reason; }

  /// Adds what was appended to the .bin to the part being made.
  void add(const EncodedPieces &pieces);
  int64_t partBytes() const { return part.binBytes; }
  /// Writes the record of the part being made, whose bytes are flushed to `bin`, and begins another one.
  absl::Status endPart(const AtomicFile &bin);

  /// The dataset is whole, or cannot be: the journal goes.
  void remove();

private:
  struct Part {
    SourcePosition end;
    int64_t binBytes = 0;
    int64_t binChecksum = 0;
    int64_t textBytes = 0;
    int64_t emptyDocuments = 0;
    int64_t fileBytes = 0;
    std::vector<int64_t> documentTokens; ///< as in EncodedPieces
    int64_t openTokens = 0;
  };

  PrepareJournal(std::string path, int descriptor, bool wasMade);
  absl::Status addUpParts(std::span<const int64_t> words, const AtomicFile &bin, TokenType type,
                          PreparedSoFar &total);
  void beginPart(SourcePosition position, int64_t fileBytes);
  absl::Status write(std::span<const int64_t> words);
  static std::vector<int64_t> recordOf(const Part &part);
  static size_t readRecord(std::span<const int64_t> words, int64_t tokenBytes, Part &part);
  static void addUp(const Part &part, PreparedSoFar &total);

  std::string path;
  int descriptor;
  bool wasMade;
  int64_t size = 0; ///< of the file, up to the last whole part
  Part part;        ///< being made
  std::string reason;
};

} // namespace weft

#endif // WEFT_RUNTIME_DATA_PREPAREJOURNAL_H
