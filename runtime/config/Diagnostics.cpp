//===- Diagnostics.cpp - All that is wrong, at once -----------------------===//
//
// The form of a message is fixed here, for errors and warnings alike.
//
//===----------------------------------------------------------------------===//
#include "runtime/config/Diagnostics.h"

#include "runtime/support/ExitCode.h"

#include "absl/strings/str_join.h"

namespace weft {

static std::string messageAt(const Origin &origin, std::string_view path, std::string_view what) {
  std::string message = origin.str();
  message.append(": ").append(path).append(": ").append(what);
  return message;
}

void Diagnostics::error(const Origin &origin, std::string_view path, std::string_view what) {
  errors.push_back(messageAt(origin, path, what));
}

void Diagnostics::warning(const Origin &origin, std::string_view path, std::string_view what) {
  warnings.push_back(messageAt(origin, path, what));
}

absl::Status Diagnostics::status() const {
  if (errors.empty())
    return absl::OkStatus();
  return withExitCode(absl::InvalidArgumentError(absl::StrJoin(errors, "\n")), ExitCode::Config);
}

} // namespace weft
