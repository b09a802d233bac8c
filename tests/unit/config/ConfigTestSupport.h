//===- ConfigTestSupport.h - Run files for tests --------------------------===//
//
// A small right run file, and loading of texts as if they were run.yaml in a folder.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_TESTS_UNIT_CONFIG_CONFIGTESTSUPPORT_H
#define WEFT_TESTS_UNIT_CONFIG_CONFIGTESTSUPPORT_H

#include "runtime/config/ConfigLoader.h"
#include "runtime/support/ExitCode.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace weft {

/// Ten lines, in which every value is right.
inline constexpr char smallRun[] =
    R"(model: {family: llama, hidden_size: 64, num_hidden_layers: 2, num_attention_heads: 4, intermediate_size: 128,
        vocab_size: 512}
tokenizer: {kind: bytes}
data:
  train: [{path: corpus.txt}]
  sequence_length: 32
optimizer: {kind: adamw, lr: 1.0e-3}
train:
  {steps: 100, micro_batch: 4,
   global_batch: 32}
)";

using Overrides = std::vector<std::string>;

inline absl::StatusOr<LoadedConfig> loadText(const std::string &text, const Overrides &overrides = {}) {
  return loadConfigText(text, "run.yaml", "/runs", overrides);
}

/// The small run with overrides.
inline absl::StatusOr<LoadedConfig> loadSmall(const Overrides &overrides = {}) {
  return loadText(smallRun, overrides);
}

/// The message of a load that must fail, with the exit code Config.
inline std::string errorOf(const absl::StatusOr<LoadedConfig> &loaded) {
  if (loaded.ok())
    return "(no error)";
  EXPECT_EQ(exitCodeOf(loaded.status()), ExitCode::Config);
  return std::string(loaded.status().message());
}

/// The small run with more lines at its end.
inline absl::StatusOr<LoadedConfig> loadWith(const std::string &lines) { return loadText(smallRun + lines); }

} // namespace weft

#endif // WEFT_TESTS_UNIT_CONFIG_CONFIGTESTSUPPORT_H
