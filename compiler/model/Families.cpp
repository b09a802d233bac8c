#include "compiler/model/Families.h"

using namespace mlir;

namespace weft {

Value buildModel(ModelBuilder &b, const ModelConfig &config, const SequenceContext &sequence, Value tokens) {
  switch (config.family) {
  case ModelFamily::Llama:
    return buildLlama(b, config, sequence, tokens);
  case ModelFamily::Mistral:
    return buildMistral(b, config, sequence, tokens);
  case ModelFamily::Qwen2:
    return buildQwen2(b, config, sequence, tokens);
  case ModelFamily::Qwen3:
    return buildQwen3(b, config, sequence, tokens);
  case ModelFamily::Gemma2:
    return buildGemma2(b, config, sequence, tokens);
  case ModelFamily::Gemma3Text:
    return buildGemma3(b, config, sequence, tokens);
  case ModelFamily::Olmo2:
    return buildOlmo2(b, config, sequence, tokens);
  case ModelFamily::Gpt2:
    return buildGpt2(b, config, sequence, tokens);
  }
  llvm_unreachable("a family without a builder");
}

Value headWeight(ModelBuilder &b, const ModelConfig &config) {
  const StringRef embedding = config.family == ModelFamily::Gpt2 ? "transformer.wte" : "model.embed_tokens";
  auto scope = b.scope(config.tieWordEmbeddings ? embedding : "lm_head");
  return b.parameter("weight", {config.vocabSize, config.hiddenSize},
                     ParameterInitializer::normal(config.initializerRange), {.tensorDimension = 0});
}

} // namespace weft
