//===- ScheduleCommand.cpp - weft schedule ------------------------------------===//
//
// Every word behind `schedule` goes to the compiler as it is, --help too.
//
//===----------------------------------------------------------------------===//
#include "tools/weft/ScheduleCommand.h"

#include "tools/weft/Command.h"
#include "tools/weft/CompilerProcess.h"

namespace weft {

void addScheduleCommand(CLI::App &app) {
  CLI::App *command = app.add_subcommand("schedule", "Show, verify and compare pipeline schedules");
  command->set_help_flag();
  command->prefix_command();
  command->callback([command] {
    std::vector<std::string> arguments = {"schedule"};
    for (std::string &argument : command->remaining())
      arguments.push_back(std::move(argument));
    if (absl::Status status = runCompiler(arguments, false); !status.ok())
      failCommand(status);
  });
}

} // namespace weft
