//===- Families.h - The model families: tokens to the loss head ---------------===//
//
// Programs call buildModel() and headWeight(), which know the families; each family is a file of its name.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_MODEL_FAMILIES_H
#define WEFT_COMPILER_MODEL_FAMILIES_H

#include "compiler/model/Blocks.h"

namespace weft {

/// Token ids [batch, sequence] -> final hidden states [batch, sequence, hidden].
mlir::Value buildModel(ModelBuilder &b, const ModelConfig &config, const SequenceContext &sequence,
                       mlir::Value tokens);
/// The output projection's weight, [vocabulary, hidden]: the embedding's if they are tied.
mlir::Value headWeight(ModelBuilder &b, const ModelConfig &config);

mlir::Value buildLlama(ModelBuilder &b, const ModelConfig &config, const SequenceContext &sequence,
                       mlir::Value tokens);
mlir::Value buildMistral(ModelBuilder &b, const ModelConfig &config, const SequenceContext &sequence,
                         mlir::Value tokens);
mlir::Value buildQwen2(ModelBuilder &b, const ModelConfig &config, const SequenceContext &sequence,
                       mlir::Value tokens);
mlir::Value buildQwen3(ModelBuilder &b, const ModelConfig &config, const SequenceContext &sequence,
                       mlir::Value tokens);
mlir::Value buildGemma2(ModelBuilder &b, const ModelConfig &config, const SequenceContext &sequence,
                        mlir::Value tokens);
mlir::Value buildGemma3(ModelBuilder &b, const ModelConfig &config, const SequenceContext &sequence,
                        mlir::Value tokens);
mlir::Value buildOlmo2(ModelBuilder &b, const ModelConfig &config, const SequenceContext &sequence,
                       mlir::Value tokens);
mlir::Value buildGpt2(ModelBuilder &b, const ModelConfig &config, const SequenceContext &sequence,
                      mlir::Value tokens);

} // namespace weft

#endif // WEFT_COMPILER_MODEL_FAMILIES_H
