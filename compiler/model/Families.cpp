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
  }
  llvm_unreachable("a family without a builder");
}

Value headWeight(ModelBuilder &b, const ModelConfig &config) {
  auto scope = b.scope(config.tieWordEmbeddings ? "model.embed_tokens" : "lm_head");
  return b.parameter("weight", {config.vocabSize, config.hiddenSize},
                     ParameterInitializer::normal(config.initializerRange), {.tensorDimension = 0});
}

} // namespace weft
