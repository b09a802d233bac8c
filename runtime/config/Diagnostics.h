//===- Diagnostics.h - All that is wrong, at once -------------------------===//
//
// Errors and warnings of one load, in the order found: a run file with three mistakes is corrected in one go.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_CONFIG_DIAGNOSTICS_H
#define WEFT_RUNTIME_CONFIG_DIAGNOSTICS_H

#include "runtime/config/ConfigTree.h"

#include "absl/status/status.h"

#include <string>
#include <vector>

namespace weft {

class Diagnostics {
public:
  /// `ORIGIN: PATH: what`.
  void error(const Origin &origin, std::string_view path, std::string_view what);
  void warning(const Origin &origin, std::string_view path, std::string_view what);
  /// A message that already names its place.
  void error(std::string message) { errors.push_back(std::move(message)); }

  bool hasErrors() const { return !errors.empty(); }
  /// OK, or INVALID_ARGUMENT with one line for each error, and the exit code Config.
  absl::Status status() const;
  std::vector<std::string> takeWarnings() { return std::move(warnings); }

private:
  std::vector<std::string> errors;
  std::vector<std::string> warnings;
};

} // namespace weft

#endif // WEFT_RUNTIME_CONFIG_DIAGNOSTICS_H
