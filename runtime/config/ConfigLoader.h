//===- ConfigLoader.h - From a run file to a Config -----------------------===//
//
// Reads a run file, lays the overrides of the command line over it, and returns a Config in which every key
// has a value that was checked, or an error that lists all that is wrong. Nothing is rewritten silently: a
// key that does not count in this run becomes a warning, and the resolved text names the origin of every
// value.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_CONFIG_CONFIGLOADER_H
#define WEFT_RUNTIME_CONFIG_CONFIGLOADER_H

#include "runtime/config/Config.h"
#include "runtime/config/ConfigTree.h"
#include "runtime/support/Launcher.h"

#include "absl/status/statusor.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace weft {

struct LoadedConfig {
  Config config;
  /// Keys that were given and do not count in this run, one message each.
  std::vector<std::string> warnings;
  /// Where each given value came from, by path ("train.steps", "data.train[0].path"); what is absent is a
  /// default.
  std::map<std::string, Origin> origins;

  /// The run as YAML, each value with its origin as a comment, without the keys that do not count. Loading it
  /// gives the same Config, wherever it lies, because its paths are absolute.
  std::string resolvedYaml() const;
};

/// Loads a run file. A `launcher` that started several processes, or one where launch.comm is mpi, gives
/// launch.ranks its value. `overrides` are `a.b=c` texts (`--set`), c being YAML; they win over the file.
/// Errors carry the exit code Config: INVALID_ARGUMENT with a line `FILE:LINE: KEY: what, and what helps` for
/// each mistake, or the status of a file that cannot be read.
absl::StatusOr<LoadedConfig> loadConfig(const std::string &path,
                                        const std::vector<std::string> &overrides = {},
                                        const std::optional<Launcher> &launcher = std::nullopt);

/// The same from text, as an executable or a checkpoint stores it. `source` names the text in messages;
/// relative paths are relative to `folder`.
absl::StatusOr<LoadedConfig> loadConfigText(const std::string &text, const std::string &source,
                                            const std::string &folder,
                                            const std::vector<std::string> &overrides = {},
                                            const std::optional<Launcher> &launcher = std::nullopt);

} // namespace weft

#endif // WEFT_RUNTIME_CONFIG_CONFIGLOADER_H
