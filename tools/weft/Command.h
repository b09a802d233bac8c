//===- Command.h - What the commands of weft share ------------------------===//
//
// A command is a function addXCommand(CLI::App &) that declares its options and a callback; main.cpp lists
// them all. A callback that returns means success. One that fails throws a CLI::RuntimeError with the exit
// code, which main() returns; exceptions go no further than this folder.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_COMMAND_H
#define WEFT_TOOLS_WEFT_COMMAND_H

#include "runtime/support/ExitCode.h"

#include "absl/status/status.h"

#include "CLI/App.hpp"
#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"

namespace weft {

/// Ends the command with this code; the message was printed already.
[[noreturn]] void endCommand(ExitCode code);

/// Prints the status on standard error and ends the command with the exit code that it carries.
[[noreturn]] void failCommand(const absl::Status &status);

} // namespace weft

#endif // WEFT_TOOLS_WEFT_COMMAND_H
