//===- RunLockTest.cpp - One job per run folder ---------------------------===//
//
// The second job is refused and told who works there; a job that ends, however, leaves no lock.
//
//===----------------------------------------------------------------------===//
#include "TestSupport.h"

#include "runtime/checkpoint/RunLock.h"
#include "runtime/support/ExitCode.h"

#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

namespace weft::checkpoint {
namespace {

std::string host() {
  char name[256] = {};
  ::gethostname(name, sizeof(name) - 1);
  return name;
}

TEST(RunLock, RefusesASecondJobAndNamesTheFirst) {
  TestFolder run;
  absl::StatusOr<RunLock> first = RunLock::acquire(run.path());
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(RunLock::acquire(run.path()).status().message(),
            run.path() + ": another job works in this run folder (pid " + std::to_string(::getpid()) +
                " on " + host() + "). Wait until it ends, or give this run another --name.");
}

TEST(RunLock, EndsTheSecondJobWithTheCodeOfTheCommandLine) {
  TestFolder run;
  absl::StatusOr<RunLock> first = RunLock::acquire(run.path());
  EXPECT_EQ(exitCodeOf(RunLock::acquire(run.path()).status()), ExitCode::Config);
  EXPECT_EQ(exitCodeOf(RunLock::acquire(run / "absent").status()), ExitCode::Checkpoint);
}

TEST(RunLock, IsFreeAgainAfterItsHolder) {
  TestFolder run;
  ASSERT_TRUE(RunLock::acquire(run.path()).ok());
  EXPECT_TRUE(RunLock::acquire(run.path()).ok());
}

TEST(RunLock, OfAKilledJobIsFree) {
  TestFolder run;
  const pid_t child = ::fork();
  if (child == 0) {
    absl::StatusOr<RunLock> lock = RunLock::acquire(run.path());
    ::kill(::getpid(), lock.ok() ? SIGKILL : SIGABRT);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  EXPECT_EQ(readText(run / "lock"), "pid " + std::to_string(child) + " on " + host() + "\n");
  EXPECT_TRUE(RunLock::acquire(run.path()).ok());
}

TEST(RunLock, NeedsAFolder) {
  TestFolder run;
  EXPECT_EQ(RunLock::acquire(run / "absent").status().message(),
            run / "absent/lock: cannot create the file: No such file or directory. Check the path.");
}

} // namespace
} // namespace weft::checkpoint
