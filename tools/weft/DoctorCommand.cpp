//===- DoctorCommand.cpp - weft doctor ------------------------------------===//
//
// Prints the report. A machine that cannot train ends the command with the exit code of a configuration that
// cannot run; what only some uses need does not.
//
//===----------------------------------------------------------------------===//
#include "tools/weft/DoctorCommand.h"

#include "tools/weft/Command.h"
#include "tools/weft/MachineReport.h"

#include <cstdio>
#include <memory>
#include <utility>

namespace weft {

void addDoctorCommand(CLI::App &app) {
  CLI::App *command =
      app.add_subcommand("doctor", "Say what this machine has, what is missing, and how to install it");
  auto asJson = std::make_shared<bool>(false);
  command->add_flag("--json", *asJson, "Print one JSON object instead of the table");
  auto measured = std::make_shared<bool>(false);
  command->add_flag(
      "--measure", *measured,
      "Also measure products of matrices, by type and size: what a step can reach at most. Takes seconds");
  command->callback([asJson, measured] {
    std::vector<Finding> findings = examineMachine();
    if (*measured)
      for (Finding &finding : measureProducts())
        findings.push_back(std::move(finding));
    std::string text = *asJson ? reportJson(findings) : reportText(findings);
    std::fwrite(text.data(), 1, text.size(), stdout);
    if (!canTrain(findings))
      endCommand(ExitCode::Config);
  });
}

} // namespace weft
