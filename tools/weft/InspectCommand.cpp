//===- InspectCommand.cpp - weft inspect ----------------------------------===//
//
// Prints what an executable holds. It is read as for a run, so what is printed passed verify(); nothing of it
// is run, its machine code is not loaded.
//
//===----------------------------------------------------------------------===//
#include "tools/weft/InspectCommand.h"

#include "runtime/executable/Dump.h"
#include "runtime/executable/ExecutableFile.h"
#include "tools/weft/Command.h"

#include <cstdio>
#include <memory>

namespace weft {

static void inspect(const std::string &file) {
  absl::StatusOr<std::vector<Executable>> parts = readExecutables(file);
  if (!parts.ok())
    failCommand(withExitCode(parts.status(), ExitCode::Config));
  const std::string text = dump(*parts);
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

void addInspectCommand(CLI::App &app) {
  CLI::App *command = app.add_subcommand("inspect", "Print what an executable holds, down to every command");
  auto file = std::make_shared<std::string>();
  command->add_option("FILE", *file, "The executable (FILE.weft)")->required();
  command->callback([file] { inspect(*file); });
}

} // namespace weft
