//===- MappedFile.h - A whole file as read-only memory --------------------===//
//
// The pages belong to the page cache: they cost no anonymous memory, and all processes of a node share them.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_DATA_MAPPEDFILE_H
#define WEFT_RUNTIME_DATA_MAPPEDFILE_H

#include "absl/status/statusor.h"

#include <cstddef>
#include <span>
#include <string>

namespace weft {

class MappedFile {
public:
  /// Maps regular file `path`. An empty file gives an empty span.
  static absl::StatusOr<MappedFile> open(const std::string &path);

  MappedFile(MappedFile &&other) noexcept;
  MappedFile &operator=(MappedFile &&other) noexcept;
  ~MappedFile();

  /// Valid as long as this object, wherever it is moved.
  std::span<const std::byte> bytes() const { return contents; }

private:
  explicit MappedFile(std::span<const std::byte> contents) : contents(contents) {}
  std::span<const std::byte> contents;
};

} // namespace weft

#endif // WEFT_RUNTIME_DATA_MAPPEDFILE_H
