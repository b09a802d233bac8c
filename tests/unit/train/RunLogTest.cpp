// What a run says goes into its log whoever reads the terminal, and a terminal that nobody reads holds up no
// run.
#include "tests/unit/TestFolder.h"

#include "runtime/train/RunLog.h"

#include "gtest/gtest.h"

#include <cstdio>
#include <fcntl.h>
#include <fstream>
#include <sstream>
#include <string>
#include <unistd.h>

namespace weft {
namespace {

TEST(RunLog, ATerminalThatNobodyReadsIsPassedOver) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_NONBLOCK), 0);
  const std::string page(4096, 'x');
  while (::write(ends[1], page.data(), page.size()) > 0) {
  }
  ::fcntl(ends[1], F_SETFL, 0); // from here on a write waits for a reader
  TestFolder folder;
  absl::StatusOr<RunLog> log = RunLog::open(folder / "log.txt", true);
  ASSERT_TRUE(log.ok()) << log.status();
  std::fflush(stdout);
  const int terminal = ::dup(STDOUT_FILENO);
  ::dup2(ends[1], STDOUT_FILENO);
  for (int step = 1; step <= 3; ++step)
    log->line("step " + std::to_string(step)); // waits for half a second once, and never for good
  ::dup2(terminal, STDOUT_FILENO);
  for (int descriptor : {terminal, ends[0], ends[1]})
    ::close(descriptor);
  const std::string written = folder.read("log.txt");
  for (const char *line : {" step 1\n", " step 2\n", " step 3\n"})
    EXPECT_NE(written.find(line), std::string::npos) << written;
}

} // namespace
} // namespace weft
