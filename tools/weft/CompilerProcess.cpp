//===- CompilerProcess.cpp - Compiling in a child process -----------------===//
//
// posix_spawn, so that nothing of this process but its environment and standard streams reaches the child.
//
//===----------------------------------------------------------------------===//
#include "tools/weft/CompilerProcess.h"

#include "runtime/support/ExitCode.h"

#include "absl/strings/str_cat.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace weft {

static std::string compilerBesideThisProgram() {
  std::error_code error;
  std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  std::filesystem::path beside = self.parent_path() / "weft-compile";
  return !error && ::access(beside.c_str(), X_OK) == 0 ? beside.string() : std::string();
}

static absl::Status statusOfChild(int status) {
  if (WIFSIGNALED(status)) {
    const int number = WTERMSIG(status);
    const bool asked = number == SIGINT || number == SIGTERM;
    return withExitCode(absl::CancelledError(absl::StrCat("weft-compile was ended by signal ", number, " (",
                                                          ::strsignal(number), ")")),
                        asked ? ExitCode::Stopped : ExitCode::Internal);
  }
  const int code = WEXITSTATUS(status);
  if (code == 0)
    return absl::OkStatus();
  for (const ExitCodeInfo &info : exitCodes())
    if (static_cast<int>(info.code) == code)
      return withExitCode(absl::AbortedError(""), info.code);
  // CLI11 ends with codes of its own over 100 when the command line is wrong.
  return withExitCode(absl::AbortedError(""), ExitCode::Config);
}

void addMemoryLimits(const MemoryLimits &limits, std::vector<std::string> &arguments) {
  if (limits.perRank)
    arguments.insert(arguments.end(), {"--memory-per-rank", std::to_string(*limits.perRank)});
  if (limits.shared)
    arguments.insert(arguments.end(), {"--memory-limit", std::to_string(*limits.shared), "--memory-ranks",
                                       std::to_string(limits.ranks)});
}

/// Starts weft-compile. Its standard output goes to the descriptor, or where this process's goes if that is
/// negative.
static absl::StatusOr<pid_t> startCompiler(const std::vector<std::string> &arguments, int output) {
  const std::string beside = compilerBesideThisProgram();
  const std::string program = beside.empty() ? "weft-compile" : beside;
  std::vector<char *> argv = {const_cast<char *>("weft-compile")};
  for (const std::string &argument : arguments)
    argv.push_back(const_cast<char *>(argument.c_str()));
  argv.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (output >= 0)
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  pid_t child = 0;
  const int error = ::posix_spawnp(&child, program.c_str(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0)
    return withExitCode(
        absl::FailedPreconditionError(absl::StrCat(
            "weft-compile cannot be started: ", std::strerror(error),
            ". It belongs beside weft, or on PATH; without it, train an executable that was compiled "
            "elsewhere: weft train RUN.weft")),
        ExitCode::Config);
  return child;
}

static absl::Status awaitCompiler(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      return absl::InternalError(absl::StrCat("waiting for weft-compile: ", std::strerror(errno)));
  return statusOfChild(status);
}

absl::Status runCompiler(const std::vector<std::string> &arguments, bool quiet) {
  const int nowhere = quiet ? ::open("/dev/null", O_WRONLY | O_CLOEXEC) : -1;
  absl::StatusOr<pid_t> child = startCompiler(arguments, nowhere);
  if (nowhere >= 0)
    ::close(nowhere);
  return child.ok() ? awaitCompiler(*child) : child.status();
}

absl::StatusOr<std::string> askCompiler(const std::vector<std::string> &arguments) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return absl::InternalError(absl::StrCat("asking weft-compile: ", std::strerror(errno)));
  absl::StatusOr<pid_t> child = startCompiler(arguments, ends[1]);
  ::close(ends[1]);
  std::string text;
  char buffer[1 << 16];
  for (ssize_t count = 1; child.ok() && count != 0;) {
    count = ::read(ends[0], buffer, sizeof(buffer));
    if (count > 0)
      text.append(buffer, static_cast<size_t>(count));
    else if (count < 0 && errno != EINTR)
      break;
  }
  ::close(ends[0]);
  if (absl::Status status = child.ok() ? awaitCompiler(*child) : child.status(); !status.ok())
    return status;
  return text;
}

} // namespace weft
