//===- RunLock.cpp - One job per run folder -------------------------------===//
//
// The lock is what counts, the text is for people: between taking the one and writing the other a second job
// may read an older holder's text, and is then told a pid that has gone, but is refused all the same.
//
//===----------------------------------------------------------------------===//
#include "runtime/checkpoint/RunLock.h"
#include "runtime/checkpoint/FileOperations.h"
#include "runtime/support/ExitCode.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

#include <array>
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace weft::checkpoint {
namespace {
std::string holderText() {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  return absl::StrCat("pid ", ::getpid(), " on ", host.data(), "\n");
}

absl::Status lockError(const char *action, const std::string &path) {
  return withExitCode(fileError(errno, action, path), ExitCode::Checkpoint);
}

absl::Status refused(int descriptor, const std::string &runFolder) {
  std::array<char, 300> text;
  const ssize_t count = ::pread(descriptor, text.data(), text.size(), 0);
  std::string holder(text.data(), count > 0 ? static_cast<size_t>(count) : 0);
  absl::StripAsciiWhitespace(&holder);
  return withExitCode(absl::FailedPreconditionError(
                          absl::StrCat(runFolder, ": another job works in this run folder",
                                       holder.empty() ? "" : " (", holder, holder.empty() ? "" : ")",
                                       ". Wait until it ends, or give this run another --name.")),
                      ExitCode::Config);
}
} // namespace

RunLock::RunLock(RunLock &&other) noexcept : descriptor(std::exchange(other.descriptor, -1)) {}

RunLock::~RunLock() {
  if (descriptor >= 0)
    ::close(descriptor);
}

absl::StatusOr<RunLock> RunLock::acquire(const std::string &runFolder) {
  const std::string path = runFolder + "/lock";
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor < 0)
    return lockError("create the file", path);
  RunLock lock(descriptor);
  int locked;
  do
    locked = ::flock(descriptor, LOCK_EX | LOCK_NB);
  while (locked < 0 && errno == EINTR);
  if (locked < 0 && errno == EWOULDBLOCK)
    return refused(descriptor, runFolder);
  if (locked < 0)
    return lockError("lock", path);
  const std::string text = holderText();
  if (::ftruncate(descriptor, 0) < 0 ||
      ::pwrite(descriptor, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()))
    return lockError("write", path);
  return lock;
}

} // namespace weft::checkpoint
