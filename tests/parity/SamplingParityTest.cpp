//===- SamplingParityTest.cpp - Sampling against Hugging Face transformers ------===//
//
// goldens/sampling.safetensors holds logits, options, and the probabilities that transformers' warpers leave
// (generation.py): the same tokens must be left, with the same probabilities.
//
//===----------------------------------------------------------------------===//
#include "runtime/train/Sampling.h"
#include "tools/weft-run/TensorFiles.h"

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace weft {
namespace {

constexpr double kRounding = 1e-12;

TEST(SamplingParity, LeavesTheTokensAndProbabilitiesOfTransformers) {
  auto files = run::readTensors({std::string(WEFT_PARITY_FOLDER) + "/goldens/sampling.safetensors"});
  ASSERT_TRUE(files.ok()) << files.status();
  std::map<std::string, reference::Tensor> golden;
  for (auto &[name, tensor] : *files)
    golden.emplace(name, std::move(tensor.value));
  const reference::Tensor &options = golden.at("options");
  ASSERT_EQ(options.shape.size(), 2u);
  for (int64_t number = 0; number < options.shape[0]; ++number) {
    GenerateConfig config;
    config.temperature = options.reals[static_cast<size_t>(3 * number)];
    config.topK = static_cast<int64_t>(options.reals[static_cast<size_t>(3 * number + 1)]);
    config.topP = options.reals[static_cast<size_t>(3 * number + 2)];
    const std::vector<double> &wide = golden.at(absl::StrCat("logits/", number)).reals,
                              &wanted = golden.at(absl::StrCat("probabilities/", number)).reals;
    const std::vector<float> logits(wide.begin(), wide.end());
    std::vector<double> found(logits.size(), 0.0);
    for (const TokenChance &chance : tokenChances(logits, config))
      found.at(static_cast<size_t>(chance.token)) = chance.probability;
    for (size_t token = 0; token < found.size(); ++token) {
      EXPECT_NEAR(found[token], wanted[token], kRounding) << "case " << number << ", token " << token;
      EXPECT_EQ(found[token] > 0, wanted[token] > 0) << "case " << number << ", token " << token;
    }
  }
}

} // namespace
} // namespace weft
