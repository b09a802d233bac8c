//===- CommandLineTest.cpp - weft config, as typed ------------------------===//
//
// The commands print what the library says, and end with the documented codes.
//
//===----------------------------------------------------------------------===//
#include "tests/unit/TestFolder.h"

#include "ConfigTestSupport.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sys/wait.h>
#include <unistd.h>

namespace weft {

using testing::HasSubstr;
using testing::StartsWith;

class CommandLine : public testing::Test {
protected:
  void SetUp() override { folder.write("run.yaml", smallRun); }

  /// Runs weft in the folder; standard error joins standard output.
  void weft(const std::string &arguments) {
    output.clear();
    FILE *pipe = // NOLINTNEXTLINE(bugprone-command-processor): a command line is what is tested
        ::popen(("cd '" + folder.path() + "' && '" WEFT_PROGRAM "' " + arguments + " 2>&1").c_str(), "r");
    ASSERT_NE(pipe, nullptr);
    char block[4096];
    while (size_t count = std::fread(block, 1, sizeof(block), pipe))
      output.append(block, count);
    int status = ::pclose(pipe);
    code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  TestFolder folder;
  std::string output;
  int code = -1;
};

TEST_F(CommandLine, CheckOfARightFile) {
  weft("config check run.yaml");
  EXPECT_EQ(output, "run.yaml: ok\n");
  EXPECT_EQ(code, 0);
}

TEST_F(CommandLine, CheckPrintsWarnings) {
  weft("config check run.yaml --set optimizer.momentum=0.5");
  EXPECT_EQ(
      output,
      "warning: --set: optimizer.momentum: is not used here: it counts only with optimizer.kind = sgd.\n"
      "run.yaml: ok, 1 warning\n");
  EXPECT_EQ(code, 0);
}

TEST_F(CommandLine, CheckOfAWrongFileEndsWithItsCode) {
  weft("config check run.yaml --set train.micro_batch=5 --set data.train=[]");
  EXPECT_EQ(output,
            "--set: train.micro_batch: 5 does not divide global_batch (32). Works: 1, 2, 4, 8, 16, 32.\n"
            "--set: data.train: the list is empty. Works: at least one {path: FILE}.\n");
  EXPECT_EQ(code, 2);
}

TEST_F(CommandLine, OverridesMayStandBeforeTheFile) {
  weft("config check --set train.steps=7 --set train.seed=3 run.yaml");
  EXPECT_EQ(output, "run.yaml: ok\n");
}

TEST_F(CommandLine, ShowCanBeCheckedAgain) {
  weft("config show run.yaml --set train.steps=7 > shown.yaml");
  EXPECT_EQ(code, 0);
  weft("config check shown.yaml");
  EXPECT_EQ(output, "shown.yaml: ok\n");
}

TEST_F(CommandLine, ExplainAndSchema) {
  weft("config explain train.seed");
  EXPECT_THAT(output, StartsWith("train.seed\n  Seed of initial values"));
  weft("config explain train.sed");
  EXPECT_EQ(output, "train.sed: no such key or section. Did you mean train.seed?\n");
  EXPECT_EQ(code, 2);
  weft("config explain");
  EXPECT_THAT(output, HasSubstr("lr_schedule\n"));
  weft("config schema");
  EXPECT_THAT(output, StartsWith("{\n  \"$schema\": "));
  EXPECT_EQ(code, 0);
}

TEST_F(CommandLine, VersionAndHelp) {
  weft("--version");
  EXPECT_EQ(output, "weft " WEFT_VERSION "\n");
  EXPECT_EQ(code, 0);
  weft("--help");
  EXPECT_THAT(output, HasSubstr("config"));
  EXPECT_THAT(output, HasSubstr("Exit codes: 0 ok, 1 internal, 2 config, 3 data, 4 checkpoint"));
  EXPECT_EQ(code, 0);
}

TEST_F(CommandLine, MistypedCommandLineEndsWithTheCodeOfConfig) {
  for (const char *arguments : {"", "confg", "config", "config check", "config check run.yaml --sett x"}) {
    weft(arguments);
    EXPECT_EQ(code, 2) << arguments;
    EXPECT_THAT(output, HasSubstr("--help")) << arguments;
  }
}

} // namespace weft
