//===- NewFolder.h - A folder that appears when it is whole ---------------===//
//
// What import and export write into: `NAME.part` beside the folder's own name, which must be free. Publishing
// gives it that name; a folder that was not published goes away, at the end or, after a kill, at the next
// try.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_INTERCHANGE_NEWFOLDER_H
#define WEFT_RUNTIME_INTERCHANGE_NEWFOLDER_H

#include "runtime/checkpoint/FileOperations.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <string>

namespace weft::interchange {

class NewFolder {
public:
  /// Makes the temporary folder. FailedPrecondition when the name is taken; ResourceExhausted when the disk
  /// has fewer than `bytes` free.
  static absl::StatusOr<NewFolder> create(const std::string &path, int64_t bytes,
                                          checkpoint::FileSystem &files);
  NewFolder(NewFolder &&other) noexcept;
  NewFolder &operator=(NewFolder &&) = delete;
  ~NewFolder();

  /// Where the files are written.
  const std::string &temporary() const { return part; }
  const std::string &path() const { return final; }
  /// All files are on the disk: syncs the folder and gives it its name.
  absl::Status publish();
  /// It has its name by other means.
  void release() { part.clear(); }

private:
  NewFolder(std::string path, checkpoint::FileSystem &files)
      : final(std::move(path)), part(final + ".part"), files(&files) {}

  std::string final, part;
  checkpoint::FileSystem *files;
};

} // namespace weft::interchange

#endif // WEFT_RUNTIME_INTERCHANGE_NEWFOLDER_H
