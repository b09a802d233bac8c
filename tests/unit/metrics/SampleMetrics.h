//===- SampleMetrics.h - Records for the tests of metrics -----------------===//
//
// A record with every field set, and a fresh folder to write into.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_TESTS_UNIT_METRICS_SAMPLEMETRICS_H
#define WEFT_TESTS_UNIT_METRICS_SAMPLEMETRICS_H

#include "runtime/metrics/StepMetrics.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace weft {

inline StepMetrics sampleMetrics(int64_t step, double loss = 3.4121) {
  StepMetrics metrics;
  metrics.step = step;
  metrics.loss = loss;
  metrics.gradNorm = 0.87;
  metrics.learningRate = 3e-4;
  metrics.tokensPerSecond = 5310.4;
  metrics.mfu = 0.412;
  metrics.dataWait = 0.125;
  metrics.memoryBytes = 1299227607;
  metrics.residentBytes = 1310000000;
  metrics.consumedTokens = step * 8192;
  metrics.time = 1700000000.25;
  return metrics;
}

class MetricsFolder {
public:
  MetricsFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "weft-metrics-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
      std::abort();
    root = name;
  }
  ~MetricsFolder() { std::filesystem::remove_all(root); }
  std::string path(const std::string &name) const { return (root / name).string(); }
  std::string write(const std::string &name, const std::string &contents) const {
    std::ofstream(path(name), std::ios::binary) << contents;
    return path(name);
  }
  static std::string read(const std::string &path) {
    std::ostringstream contents;
    contents << std::ifstream(path, std::ios::binary).rdbuf();
    return contents.str();
  }
  /// A message with the path of this folder taken out.
  template <typename Text> std::string relative(const Text &text) const {
    std::string result(text);
    std::string prefix = root.string() + "/";
    for (size_t at; (at = result.find(prefix)) != std::string::npos;)
      result.erase(at, prefix.size());
    return result;
  }
  std::filesystem::path root;
};

} // namespace weft

#endif // WEFT_TESTS_UNIT_METRICS_SAMPLEMETRICS_H
