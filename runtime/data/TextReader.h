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

  /// Bytes of the file itself taken so far, for progress.
  virtual int64_t fileBytesRead() const = 0;
};

/// The lines of a text, without their ends (LF or CRLF).
class LineReader {
public:
  /// Lines longer than `longestLine` bytes are refused.
  LineReader(std::unique_ptr<TextReader> reader, std::string path, size_t longestLine = size_t{1} << 30);

  /// Makes `line` the next line, valid until the next call; false at the end.
  absl::StatusOr<bool> next(std::string_view &line);

  /// The number of the line that next() gave, from 1.
  int64_t lineNumber() const { return number; }
  int64_t fileBytesRead() const { return reader->fileBytesRead(); }

private:
  std::unique_ptr<TextReader> reader;
  std::string path;
  size_t longestLine;
  std::string buffer;
  size_t begin = 0;
  int64_t number = 0;
  bool atEnd = false;
};

} // namespace weft

#endif // WEFT_RUNTIME_DATA_TEXTREADER_H
