//===- ExitCode.h - What a process of weft says when it ends --------------===//
//
// Every command ends with one of these codes, so that a launcher can tell a typing mistake from a lost
// machine. The codes are a public contract: docs/exit_codes.md lists them, and a number never gets another
// meaning. A status that knows its code carries it as a payload through all the layers between.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_SUPPORT_EXITCODE_H
#define WEFT_RUNTIME_SUPPORT_EXITCODE_H

#include "absl/status/status.h"

#include <string_view>
#include <vector>

namespace weft {

enum class ExitCode : int {
  Ok = 0,
  Internal = 1,
  Config = 2,
  Data = 3,
  Checkpoint = 4,
  Stopped = 5,
  NonFinite = 6,
  PeerLost = 7,
  OutOfMemory = 8,
};

struct ExitCodeInfo {
  ExitCode code;
  std::string_view name;
  /// When a command ends with it, and what helps.
  std::string_view meaning;
};

/// All codes in ascending order.
const std::vector<ExitCodeInfo> &exitCodes();

/// The status with the code that the process should end with. A code that it already carries is kept: the
/// layer nearest to the cause knows best. An OK status is returned as it is.
absl::Status withExitCode(absl::Status status, ExitCode code);

/// The code that a status carries; without one: Ok for OK, OutOfMemory for RESOURCE_EXHAUSTED, PeerLost for
/// UNAVAILABLE, Stopped for CANCELLED, Internal for everything else.
ExitCode exitCodeOf(const absl::Status &status);

} // namespace weft

#endif // WEFT_RUNTIME_SUPPORT_EXITCODE_H
