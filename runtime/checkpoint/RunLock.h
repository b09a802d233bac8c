//===- RunLock.h - One job per run folder ---------------------------------===//
//
// A job holds an advisory lock (flock) on the file `lock` of its run folder for as long as it lives, however
// it ends: the kernel lets go, so there is never a stale lock. The file tells who holds it.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_CHECKPOINT_RUNLOCK_H
#define WEFT_RUNTIME_CHECKPOINT_RUNLOCK_H

#include "absl/status/statusor.h"

#include <string>

namespace weft::checkpoint {

class RunLock {
public:
  /// Takes the lock of an existing folder, or fails at once (FailedPrecondition) naming the process that
  /// holds it.
  static absl::StatusOr<RunLock> acquire(const std::string &runFolder);
  RunLock(RunLock &&other) noexcept;
  RunLock &operator=(RunLock &&) = delete;
  /// Lets go. The file stays: removing it would let two jobs lock two files of one name.
  ~RunLock();

private:
  explicit RunLock(int descriptor) : descriptor(descriptor) {}
  int descriptor;
};

} // namespace weft::checkpoint

#endif // WEFT_RUNTIME_CHECKPOINT_RUNLOCK_H
