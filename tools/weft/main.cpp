//===- main.cpp - The command line of weft --------------------------------===//
//
// Lists the commands, parses, and turns what comes out into an exit code of the documented table. A command
// is absent from the list until it works.
//
//===----------------------------------------------------------------------===//
#include "runtime/support/ExitCode.h"
#include "tools/weft/CkptCommand.h"
#include "tools/weft/Command.h"
#include "tools/weft/CompareCommand.h"
#include "tools/weft/CompileCommand.h"
#include "tools/weft/ConfigCommand.h"
#include "tools/weft/DataCommand.h"
#include "tools/weft/DoctorCommand.h"
#include "tools/weft/EvalCommand.h"
#include "tools/weft/ForwardedCommands.h"
#include "tools/weft/GenerateCommand.h"
#include "tools/weft/InspectCommand.h"
#include "tools/weft/InterchangeCommands.h"
#include "tools/weft/PlotCommand.h"
#include "tools/weft/TokenizerCommand.h"
#include "tools/weft/TrainCommand.h"

#include <cstdio>
#include <exception>
#include <string>

namespace {
using AddCommand = void (*)(CLI::App &);

/// In the order of --help.
constexpr AddCommand commands[] = {
    weft::addTrainCommand,  weft::addCompileCommand,      weft::addGenerateCommand, weft::addEvalCommand,
    weft::addConfigCommand, weft::addModelCommand,        weft::addDataCommand,     weft::addTokenizerCommand,
    weft::addCkptCommand,   weft::addInterchangeCommands, weft::addScheduleCommand, weft::addCompareCommand,
    weft::addPlotCommand,   weft::addInspectCommand,      weft::addDoctorCommand,
};
} // namespace

static std::string exitCodeFooter() {
  std::string footer = "Exit codes:";
  for (const weft::ExitCodeInfo &info : weft::exitCodes())
    footer += (info.code == weft::ExitCode::Ok ? " " : ", ") + std::to_string(static_cast<int>(info.code)) +
              " " + std::string(info.name);
  return footer + ".";
}

static int runCommandLine(int argc, char **argv) {
  CLI::App app("Compiles a model for the machine at hand, and trains it.", "weft");
  app.set_version_flag("--version", "weft " WEFT_VERSION);
  app.footer(exitCodeFooter());
  app.require_subcommand(1);
  for (AddCommand add : commands)
    add(app);
  try {
    app.parse(argc, argv);
    return static_cast<int>(weft::ExitCode::Ok);
  } catch (const CLI::RuntimeError &error) {
    return error.get_exit_code();
  } catch (const CLI::ParseError &error) {
    // Prints help, the version, or what is wrong with the command line.
    return static_cast<int>(app.exit(error) == 0 ? weft::ExitCode::Ok : weft::ExitCode::Config);
  }
}

int main(int argc, char **argv) {
  try {
    return runCommandLine(argc, argv);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "weft: internal error: %s\n", error.what());
    return static_cast<int>(weft::ExitCode::Internal);
  }
}
