//===- ConfigLoader.cpp - From a run file to a Config ---------------------===//
//
// Text, tree, overrides, model spellings, typed values, derived defaults, agreement: each step works on what
// the one before let through, and checks across keys wait until every single key is right.
//
//===----------------------------------------------------------------------===//
#include "runtime/config/ConfigLoader.h"

#include "runtime/config/ConfigChecks.h"
#include "runtime/config/ConfigDecoder.h"
#include "runtime/config/Diagnostics.h"
#include "runtime/config/ModelKeys.h"
#include "runtime/config/Overrides.h"
#include "runtime/config/Schema.h"
#include "runtime/config/YamlTree.h"
#include "runtime/support/ExitCode.h"
#include "runtime/support/FileText.h"

#include "absl/strings/str_cat.h"

#include <filesystem>

namespace weft {

/// The line of the innermost section of a key that is written at all.
static Origin originOfSection(const std::string &path, const std::map<std::string, Origin> &origins,
                              const Origin &fallback) {
  for (size_t dot = path.rfind('.'); dot != std::string::npos && dot > 0; dot = path.rfind('.', dot - 1))
    if (auto found = origins.find(path.substr(0, dot)); found != origins.end())
      return found->second;
  return fallback;
}

static void checkRequired(const LoadedConfig &loaded, const Origin &fallback, Diagnostics &diagnostics) {
  for (const Key &key : configSchema()) {
    if (!key.isRequired || loaded.origins.count(key.path) || !isUsed(key, loaded.config))
      continue;
    std::string when;
    for (const Condition &condition : key.conditions)
      if (condition.test == Condition::Test::OneOf)
        absl::StrAppend(&when, " ", condition.phrase());
    diagnostics.error(originOfSection(key.path, loaded.origins, fallback), key.path,
                      absl::StrCat("is missing", when, ". Expected ", key.typeText(), "."));
  }
}

static void warnOfUnused(const LoadedConfig &loaded, Diagnostics &diagnostics) {
  for (const Key &key : configSchema()) {
    auto given = loaded.origins.find(key.path);
    if (given == loaded.origins.end() || isUsed(key, loaded.config))
      continue;
    std::string when;
    for (const Condition &condition : key.conditions)
      absl::StrAppend(&when, when.empty() ? "" : " and ", condition.phrase());
    diagnostics.warning(given->second, key.path,
                        absl::StrCat("is not used here: it counts only ", when, "."));
  }
}

/// The ranks of a job whose ranks are processes are those that were started.
static void useLauncher(const Launcher &launcher, const Origin &fallback, LoadedConfig &loaded,
                        Diagnostics &diagnostics) {
  LaunchConfig &launch = loaded.config.launch;
  auto report = [&](const std::string &path, const std::string &what) {
    auto found = loaded.origins.find(path);
    diagnostics.error(found == loaded.origins.end() ? fallback : found->second, path, what);
  };
  if (launch.comm == CommKind::Local && launcher.size > 1)
    return report("launch.comm",
                  absl::StrCat("local means that all ranks are threads of one process, and ", launcher.name,
                               " started ", launcher.size,
                               ", each of which would be the whole job. Works: auto or mpi, or weft without ",
                               launcher.name, "."));
  if (launch.comm == CommKind::Local || (launch.comm == CommKind::Auto && launcher.size == 1))
    return;
  if (launch.ranks && *launch.ranks != launcher.size)
    return report("launch.ranks",
                  absl::StrCat(*launch.ranks, ", and ", launcher.name, " started ", launcher.size,
                               " processes, one for each rank. Works: ", launcher.size, ", auto, or ",
                               launcher.command(*launch.ranks), "."));
  if (launch.ranks)
    return;
  launch.ranks = launcher.size;
  loaded.origins["launch.ranks"] = Origin{launcher.command(launcher.size), 0};
}

absl::StatusOr<LoadedConfig> loadConfigText(const std::string &text, const std::string &source,
                                            const std::string &folder,
                                            const std::vector<std::string> &overrides,
                                            const std::optional<Launcher> &launcher) {
  absl::StatusOr<ConfigNode> root = readYaml(text, source);
  if (!root.ok())
    return withExitCode(root.status(), ExitCode::Config);
  Origin whole{source, 0};
  Diagnostics diagnostics;
  if (root->kind != ConfigNode::Kind::Map && root->kind != ConfigNode::Kind::Null)
    diagnostics.error(
        absl::StrCat(root->origin.str(), ": expected a map of sections, got ", root->describe(), "."));
  else
    for (const std::string &override : overrides)
      applyOverride(override, *root, diagnostics);
  if (diagnostics.hasErrors())
    return diagnostics.status();

  LoadedConfig loaded;
  resolveModelKeys(*root, folder, diagnostics);
  decodeConfig(*root, folder, loaded.config, loaded.origins, diagnostics);
  if (launcher && !diagnostics.hasErrors())
    useLauncher(*launcher, whole, loaded, diagnostics);
  // A key that did not decode may be one on which others depend; then only the keys themselves are judged.
  if (!diagnostics.hasErrors())
    checkRequired(loaded, whole, diagnostics);
  if (!diagnostics.hasErrors()) {
    deriveDefaults(loaded.config, loaded.origins);
    checkAcrossKeys(loaded.config, loaded.origins, whole, diagnostics);
  }
  if (diagnostics.hasErrors())
    return diagnostics.status();
  warnOfUnused(loaded, diagnostics);
  loaded.warnings = diagnostics.takeWarnings();
  return loaded;
}

absl::StatusOr<LoadedConfig> loadConfig(const std::string &path, const std::vector<std::string> &overrides,
                                        const std::optional<Launcher> &launcher) {
  constexpr size_t largestFile = 1 << 20;
  absl::StatusOr<std::string> text = readFileText(path, largestFile);
  if (!text.ok())
    return withExitCode(text.status(), ExitCode::Config);
  return loadConfigText(*text, path, std::filesystem::path(path).parent_path().string(), overrides, launcher);
}

} // namespace weft
