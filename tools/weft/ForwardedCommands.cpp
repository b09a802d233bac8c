//===- ForwardedCommands.cpp - weft schedule, weft model --------------------===//
//
// Every word behind the command goes to the compiler as it is, --help too.
//
//===----------------------------------------------------------------------===//
#include "tools/weft/ForwardedCommands.h"

#include "tools/weft/Command.h"
#include "tools/weft/CompilerProcess.h"

namespace weft {

static void addForwarded(CLI::App &app, const char *name, const char *what) {
  CLI::App *command = app.add_subcommand(name, what);
  command->set_help_flag();
  command->prefix_command();
  command->callback([command, name] {
    std::vector<std::string> arguments = {name};
    for (std::string &argument : command->remaining())
      arguments.push_back(std::move(argument));
    if (absl::Status status = runCompiler(arguments, false); !status.ok())
      failCommand(status);
  });
}

void addScheduleCommand(CLI::App &app) {
  addForwarded(app, "schedule", "Show, verify and compare pipeline schedules");
}

void addModelCommand(CLI::App &app) {
  addForwarded(app, "model", "List the families, and show what a model is and needs");
}

} // namespace weft
