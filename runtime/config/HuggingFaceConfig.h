//===- HuggingFaceConfig.h - A model as a Hugging Face config.json --------===//
//
// The same keys both ways: a config.json alone becomes a ModelConfig as in a run file, and a ModelConfig
// becomes the config.json with which transformers builds the same model. Both go along the schema, so a key
// that a family gets is written and read here too.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_CONFIG_HUGGINGFACECONFIG_H
#define WEFT_RUNTIME_CONFIG_HUGGINGFACECONFIG_H

#include "runtime/config/Config.h"

#include "absl/status/statusor.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weft {

/// The model that a config.json describes, as `model: {from: PATH}` of a run file has it. What only a run can
/// contradict is not checked.
absl::StatusOr<ModelConfig> loadModelConfig(const std::string &path);

/// The family's name, or the path of the program.
std::string nameOfModel(const ModelConfig &model);

/// The text of the config.json of a family's model. `dtype` is that of the weights beside it: float32;
/// `endOfText` the id that ends a text, where one is known.
std::string huggingFaceConfigText(const ModelConfig &model, const std::string &dtype,
                                  std::optional<int64_t> endOfText = std::nullopt);

/// The keys that two models have not in common and with which equal weights compute something else, a line
/// each: `model.rope_theta is 10000 in A and 500000 in B`. Sizes of the vocabulary, which padding changes,
/// the longest sequence, and initial values do not count.
std::vector<std::string> modelDifferences(const ModelConfig &a, const std::string &nameOfA,
                                          const ModelConfig &b, const std::string &nameOfB);

} // namespace weft

#endif // WEFT_RUNTIME_CONFIG_HUGGINGFACECONFIG_H
