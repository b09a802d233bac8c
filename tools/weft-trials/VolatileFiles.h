//===- VolatileFiles.h - A disk that forgets what was not synced ----------===//
//
// Bytes that were written to a file are in the memory of the process until fsync puts them on the disk, so a
// process that is killed leaves what a machine leaves that loses power. At its good end the rest is written,
// as an operating system would do in time.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFTTRIALS_VOLATILEFILES_H
#define WEFT_TOOLS_WEFTTRIALS_VOLATILEFILES_H

#include "runtime/checkpoint/FileSystem.h"

#include <map>
#include <mutex>
#include <string>

namespace weft::trials {

class VolatileFiles final : public checkpoint::FileSystem {
public:
  /// `skipsFsync`: fsync of a file says that it was done, and is not.
  explicit VolatileFiles(bool skipsFsync) : skipsFsync(skipsFsync) {}
  ~VolatileFiles() override;

  int64_t write(int descriptor, const void *data, size_t size) override;
  int fsync(int descriptor) override;
  int close(int descriptor) override;

private:
  int flush(int descriptor, const std::string &bytes);

  bool skipsFsync;
  std::mutex mutex;
  std::map<int, std::string> pending;     ///< by the descriptor of an open file
  std::map<int, std::string> neverSynced; ///< of files that are closed, by a descriptor of our own
};

} // namespace weft::trials

#endif // WEFT_TOOLS_WEFTTRIALS_VOLATILEFILES_H
