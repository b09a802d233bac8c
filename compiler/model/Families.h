//===- Families.h - The model families: tokens to the loss head ---------------===//
#ifndef WEFT_COMPILER_MODEL_FAMILIES_H
#define WEFT_COMPILER_MODEL_FAMILIES_H

#include "compiler/model/Blocks.h"

namespace weft {

/// The Llama family (arXiv:2302.13971): token ids [batch, sequence] -> final hidden states [batch, sequence,
/// hidden].
mlir::Value buildLlama(ModelBuilder &b, const ModelConfig &config, const SequenceContext &sequence,
                       mlir::Value tokens);
/// The output projection's weight, [vocabulary, hidden]: the embedding's if they are tied.
mlir::Value llamaHead(ModelBuilder &b, const ModelConfig &config);

} // namespace weft

#endif // WEFT_COMPILER_MODEL_FAMILIES_H
