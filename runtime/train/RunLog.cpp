//===- RunLog.cpp - What a run says, on the terminal and in log.txt -------===//
//
// Each line is one write, so that lines of a killed run are whole but for the last.
//
//===----------------------------------------------------------------------===//
#include "runtime/train/RunLog.h"

#include "runtime/support/ExitCode.h"

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

namespace weft {

absl::StatusOr<RunLog> RunLog::open(const std::string &path, bool terminal) {
  RunLog log;
  log.path = path;
  log.terminal = terminal;
  log.descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (log.descriptor < 0)
    return withExitCode(
        absl::PermissionDeniedError(absl::StrCat(path, ": cannot be written: ", std::strerror(errno))),
        ExitCode::Checkpoint);
  return log;
}

RunLog RunLog::silent() {
  RunLog log;
  log.terminal = false;
  return log;
}

RunLog::RunLog(RunLog &&other) noexcept
    : path(std::move(other.path)), descriptor(std::exchange(other.descriptor, -1)), terminal(other.terminal) {
}

RunLog &RunLog::operator=(RunLog &&other) noexcept {
  std::swap(path, other.path);
  std::swap(descriptor, other.descriptor);
  std::swap(terminal, other.terminal);
  return *this;
}

RunLog::~RunLog() {
  if (descriptor >= 0)
    ::close(descriptor);
}

bool RunLog::terminalTakes() {
  constexpr int patience = 500; // milliseconds
  pollfd output{STDOUT_FILENO, POLLOUT, 0};
  int ready;
  do
    ready = ::poll(&output, 1, isStalled ? 0 : patience);
  while (ready < 0 && errno == EINTR);
  isStalled = ready == 0;
  return !isStalled;
}

void RunLog::line(std::string_view text) {
  if (terminal && terminalTakes()) {
    std::fprintf(stdout, "%.*s\n", static_cast<int>(text.size()), text.data());
    std::fflush(stdout);
  }
  append(text);
}

void RunLog::warning(std::string_view text) {
  if (terminal)
    std::fprintf(stderr, "%.*s\n", static_cast<int>(text.size()), text.data());
  append(text);
}

void RunLog::report(std::string_view text) {
  append(text);
  const std::string line = absl::StrCat(absl::string_view(text.data(), text.size()), "\n");
  std::fwrite(line.data(), 1, line.size(), stderr); // which has no buffer
}

void RunLog::append(std::string_view text) {
  if (descriptor < 0)
    return;
  std::string line = absl::StrCat(absl::FormatTime("%Y-%m-%d %H:%M:%S ", absl::Now(), absl::UTCTimeZone()),
                                  absl::string_view(text.data(), text.size()), "\n");
  if (::write(descriptor, line.data(), line.size()) == static_cast<ssize_t>(line.size()))
    return;
  std::fprintf(stderr, "%s: cannot be written: %s. The run goes on without it.\n", path.c_str(),
               std::strerror(errno));
  ::close(std::exchange(descriptor, -1));
}

} // namespace weft
