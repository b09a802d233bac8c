//===- TextReader.h - Bytes of a plain, gzip or Zstandard file ------------===//
//
// What the file begins with decides, not its name: gzip and Zstandard are decompressed on the way,
// concatenated members and frames included, anything else is read as it is. Memory is bounded whatever the
// size of the file.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_DATA_TEXTREADER_H
#define WEFT_RUNTIME_DATA_TEXTREADER_H

#include "absl/status/statusor.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace weft {

class TextReader {
public:
  static absl::StatusOr<std::unique_ptr<TextReader>> open(const std::string &path);
  virtual ~TextReader() = default;

  /// Reads up to `out.size()` > 0 bytes of text; 0 at the end. A compressed file that ends too soon is an
  /// error.
  virtual absl::StatusOr<size_t> read(std::span<char> out) = 0;

  /// Passes over the first `bytes` of the text, before anything was read: at once in a plain file, by
  /// decompressing them otherwise. A text that is shorter is an error.
  virtual absl::Status skip(int64_t bytes) = 0;

  /// Bytes of the file itself taken so far, for progress.
  virtual int64_t fileBytesRead() const = 0;
};

} // namespace weft

#endif // WEFT_RUNTIME_DATA_TEXTREADER_H
