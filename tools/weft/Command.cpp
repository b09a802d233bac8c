//===- Command.cpp - What the commands of weft share ----------------------===//
//
// How a command ends when it does not succeed.
//
//===----------------------------------------------------------------------===//
#include "tools/weft/Command.h"

#include <cstdio>
#include <string>

namespace weft {

void endCommand(ExitCode code) { throw CLI::RuntimeError(static_cast<int>(code)); }

void failCommand(const absl::Status &status) {
  if (!status.message().empty()) // else whoever failed has said it already
    std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
  endCommand(exitCodeOf(status));
}

} // namespace weft
