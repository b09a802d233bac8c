//===- Blocks.h - The blocks that decoder families share ---------------------===//
//
// Activations are [batch, sequence, ...]. Attention weights keep heads and head dimension apart ([heads,
// dimension, hidden]), so that no split ever cuts a head; every parameter is a row-major reshape of the
// tensor of its name in a Hugging Face checkpoint. Blocks ask for features, never for a family.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_MODEL_BLOCKS_H
#define WEFT_COMPILER_MODEL_BLOCKS_H

#include "compiler/model/ModelBuilder.h"
#include "runtime/config/Config.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace weft {

/// Cosine and sine of rotary embedding, f32 [sequence, rotated / 2]; where samples hold several documents,
/// [batch, sequence, rotated / 2].
struct RotaryTable {
  mlir::Value cosine, sine;
};

/// What attention knows of the sequence.
struct SequenceContext {
  llvm::SmallVector<RotaryTable, 2> tables;
  /// Of each token, i32 [batch, sequence]; null where attention is computed of the whole sequence, whose
  /// tokens stand in order.
  mlir::Value positions;
  /// The document of the sample that each token is of, i32 [batch, sequence], and its place in it; null where
  /// a sample is one document.
  mlir::Value segments, documentPositions;
};

/// The tables for positions 0 .. sequence - 1 under the config's scaling. Computed in float64.
llvm::SmallVector<RotaryTable, 2> buildRotaryTables(ModelBuilder &b, const ModelConfig &config,
                                                    int64_t sequence);

/// A root-mean-square norm: x / rms(x) * weight.
struct Norm {
  double epsilon;
};
/// With the weight `NAME.weight`.
mlir::Value rmsNorm(ModelBuilder &b, Norm norm, llvm::StringRef name, mlir::Value x);

/// A linear layer `NAME`: an einsum with `NAME.weight`, plus `NAME.bias` over the trailing dimensions unless
/// its shape is empty.
struct Linear {
  llvm::StringRef name, equation;
  llvm::SmallVector<int64_t> weightShape;
  ParameterTraits weightTraits;
  llvm::SmallVector<int64_t> biasShape;
  ParameterTraits biasTraits;
};
mlir::Value linear(ModelBuilder &b, const ModelConfig &config, const Linear &layer, mlir::Value x);

/// Token ids [batch, sequence] -> [batch, sequence, hidden], from the table `model.embed_tokens.weight`.
mlir::Value embedding(ModelBuilder &b, const ModelConfig &config, mlir::Value tokens);

/// What families turn on in their attention.
struct AttentionOptions {
  bool inputBias = false;  ///< of the projections to queries, keys and values
  bool outputBias = false; ///< of the projection back
  int64_t window = 0;      ///< the keys that a query sees, its own included; 0: all before it
};
/// Causal self-attention with query groups and rotary embedding: q_proj, k_proj, v_proj, o_proj.
mlir::Value selfAttention(ModelBuilder &b, const ModelConfig &config, const SequenceContext &sequence,
                          const AttentionOptions &options, mlir::Value x);

/// down_proj(activation(gate_proj x) * up_proj x).
mlir::Value gatedFeedForward(ModelBuilder &b, const ModelConfig &config, mlir::Value x);

/// The layer of Llama and its relatives: pre-norm attention and gated feed-forward, both residual.
mlir::Value preNormLayer(ModelBuilder &b, const ModelConfig &config, const SequenceContext &sequence,
                         const AttentionOptions &options, mlir::Value x);

/// From embeddings to final hidden states: `model.layers.N`, each behind its boundary, and `model.norm`.
mlir::Value decoder(ModelBuilder &b, const ModelConfig &config, Norm norm, mlir::Value x,
                    llvm::function_ref<mlir::Value(int64_t layer, mlir::Value x)> buildLayer);

} // namespace weft

#endif // WEFT_COMPILER_MODEL_BLOCKS_H
