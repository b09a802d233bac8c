//===- ConfigFuzzer.cpp - Any bytes as a run file -------------------------===//
//
// The input is a run file; lines at its end that start with "#set " are overrides, and what follows a line
// "#json" is read as a config.json. Whatever comes, loading ends with a config or an error that has a
// message; and what loads must load again from its resolved text, without warnings and with the same resolved
// values.
//
//===----------------------------------------------------------------------===//
#include "runtime/config/ConfigLoader.h"
#include "runtime/config/JsonTree.h"
#include "runtime/config/ResumeComparison.h"
#include "tests/fuzz/Require.h"

using namespace weft;

namespace {
/// Cuts the overrides off the end of the text.
std::vector<std::string> takeOverrides(std::string &text) {
  constexpr char mark[] = "\n#set ";
  std::vector<std::string> overrides;
  for (size_t at; overrides.size() < 8 && (at = text.rfind(mark)) != std::string::npos; text.resize(at))
    overrides.push_back(text.substr(at + sizeof(mark) - 1));
  return overrides;
}
} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string text(reinterpret_cast<const char *>(data), size);
  constexpr char jsonMark[] = "#json\n";
  if (text.rfind(jsonMark, 0) == 0) {
    absl::StatusOr<ConfigNode> tree = readJson(text.substr(sizeof(jsonMark) - 1), "config.json");
    require(tree.ok() || !tree.status().message().empty(), "an error without a message", text);
    return 0;
  }
  std::vector<std::string> overrides = takeOverrides(text);
  absl::StatusOr<LoadedConfig> first = loadConfigText(text, "run.yaml", "/runs", overrides);
  if (!first.ok()) {
    require(!first.status().message().empty(), "an error without a message", text);
    return 0;
  }
  std::string resolved = first->resolvedYaml();
  absl::StatusOr<LoadedConfig> second = loadConfigText(resolved, "config.yaml", "/elsewhere");
  require(second.ok(), "the resolved text does not load", resolved + std::string(second.status().message()));
  require(second->warnings.empty(), "the resolved text has a key that does not count", resolved);
  require(compareForResume(first->config, second->config).empty(), "the resolved text is another run",
          resolved);
  return 0;
}
