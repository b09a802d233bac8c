//===- SourceFiles.h - The files that a path names as a corpus ------------===//
//
// A file is itself. A folder is every regular file below it whose name says that it holds text, in the order
// of their paths, byte by byte: the same tree gives the same corpus on every machine.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_DATA_SOURCEFILES_H
#define WEFT_RUNTIME_DATA_SOURCEFILES_H

#include "absl/status/statusor.h"

#include <cstdint>
#include <string>
#include <vector>

namespace weft {

enum class SourceFormat {
  Text, ///< the file is one document
  Jsonl ///< each line is an object with the text of a document
};

struct SourceFile {
  std::string path;
  SourceFormat format;
  int64_t bytes; ///< on the disk, compressed or not
  int64_t modifiedNanoseconds;
};

/// The files of `path`. A name ending in .jsonl or .ndjson (before .gz or .zst) is JSONL, anything else named
/// directly is text. In folders, files are taken that end in one of textSuffixes() or are JSONL; links to
/// files are followed, links to folders and names beginning with a dot are not.
absl::StatusOr<std::vector<SourceFile>> findSourceFiles(const std::string &path);

/// The suffixes of text files that are taken from folders, for messages and documentation.
std::string textSuffixes();

} // namespace weft

#endif // WEFT_RUNTIME_DATA_SOURCEFILES_H
