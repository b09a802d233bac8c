//===- Blocks.h - The blocks that decoder families share ---------------------===//
//
// Activations are [batch, sequence, ...]. Attention weights keep heads and head dimension apart ([heads,
// dimension, hidden]), so that no split ever cuts a head; every parameter is a row-major reshape of the
// tensor of its name in a Hugging Face checkpoint. Blocks ask for features, never for a family.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_MODEL_BLOCKS_H
#define WEFT_COMPILER_MODEL_BLOCKS_H

#include "compiler/model/KeyValueCache.h"
#include "compiler/model/ModelBuilder.h"
#include "runtime/config/Config.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <optional>

namespace weft {

/// Cosine and sine of rotary embedding, f32 [sequence, rotated / 2]; where samples hold several documents,
/// [batch, sequence, rotated / 2].
struct RotaryTable {
  mlir::Value cosine, sine;
};

/// What blocks know of the sequence, beside its activations.
struct SequenceContext {
  /// Of rotary embedding, if the model has it; of sliding layers in a second table, if it is another.
  llvm::SmallVector<RotaryTable, 2> tables;
  /// Of each token, i32 [batch, sequence]; null where attention is computed of the whole sequence, whose
  /// tokens stand in order.
  mlir::Value positions;
  /// Of dropout: the step, i64, the number of each sample, i64 [batch], and the seed. Null where nothing is
  /// dropped, which is everywhere but in training.
  mlir::Value step, sampleIds;
  int64_t seed = 0;
  /// In generation, the keys and values that are kept.
  std::optional<KeyValueCache> cache = {};
  /// The document of the sample that each token is of, i32 [batch, sequence], and its place in it; null where
  /// a sample is one document.
  mlir::Value segments, documentPositions;
};

/// The tables for positions 0 .. sequence - 1 under the config's scaling, or for those from `first`, an i64
/// scalar, on. Computed in float64.
llvm::SmallVector<RotaryTable, 2> buildRotaryTables(ModelBuilder &b, const ModelConfig &config,
                                                    int64_t sequence, mlir::Value first = {});
/// The same for positions i32 [batch, sequence].
llvm::SmallVector<RotaryTable, 2> buildRotaryTablesAt(ModelBuilder &b, const ModelConfig &config,
                                                      mlir::Value positions);

/// A root-mean-square norm: x / rms(x) * (weight + offset). It starts as x / rms(x).
struct Norm {
  double epsilon;
  double offset = 0.0;
};
/// With the weight `NAME.weight`.
mlir::Value rmsNorm(ModelBuilder &b, Norm norm, llvm::StringRef name, mlir::Value x);
/// With `NAME.weight` and `NAME.bias`.
mlir::Value layerNorm(ModelBuilder &b, double epsilon, llvm::StringRef name, mlir::Value x);

/// A linear layer `NAME`: an einsum with `NAME.weight`, plus `NAME.bias` over the trailing dimensions unless
/// its shape is empty.
struct Linear {
  llvm::StringRef name, equation;
  llvm::SmallVector<int64_t> weightShape;
  ParameterTraits weightTraits;
  llvm::SmallVector<int64_t> biasShape;
  ParameterTraits biasTraits;
  double initial = 1.0; ///< times initializer_range: the deviation of initial weights
};
mlir::Value linear(ModelBuilder &b, const ModelConfig &config, const Linear &layer, mlir::Value x);

/// The rows of a table `NAME.weight` that ids [batch, sequence] name: [batch, sequence, hidden].
mlir::Value lookUp(ModelBuilder &b, const ModelConfig &config, llvm::StringRef name, int64_t rows,
                   ParameterTraits traits, mlir::Value ids);
/// Token ids -> [batch, sequence, hidden], from the table `model.embed_tokens.weight`.
mlir::Value embedding(ModelBuilder &b, const ModelConfig &config, mlir::Value tokens);
/// Elements of x are dropped with probability `rate`, if the sequence is trained on.
mlir::Value dropout(ModelBuilder &b, const SequenceContext &sequence, llvm::StringRef name, double rate,
                    mlir::Value x);
/// config.hiddenAct.
nn::Activation activationOf(const ModelConfig &config);

/// Whether queries and keys are normalized before they meet: no, each head, or all heads as one row.
enum class QueryKeyNorm { None, PerHead, Whole };

/// What families turn on in their attention.
struct AttentionOptions {
  bool inputBias = false;  ///< of the projections to queries, keys and values
  bool outputBias = false; ///< of the projection back
  QueryKeyNorm queryKeyNorm = QueryKeyNorm::None;
  Norm norm = {0.0};           ///< of queries and keys
  std::optional<double> scale; ///< of scores; without it one over the root of the head's width
  double softcap = 0.0;        ///< of scores; 0: none
  int64_t window = 0;          ///< the keys that a query sees, its own included; 0: all before it
  bool ownFrequencies = false; ///< whether it rotates by the sequence's second table
};
/// Causal attention of queries [batch, sequence, heads, dimension] to keys and values [batch, sequence,
/// groups, dimension].
mlir::Value attend(ModelBuilder &b, const ModelConfig &config, const SequenceContext &sequence,
                   const AttentionOptions &options, mlir::Value query, mlir::Value key, mlir::Value value);
/// Causal self-attention with query groups and rotary embedding: q_proj, k_proj, v_proj, o_proj.
mlir::Value selfAttention(ModelBuilder &b, const ModelConfig &config, const SequenceContext &sequence,
                          const AttentionOptions &options, mlir::Value x);

/// down_proj(activation(gate_proj x) * up_proj x).
mlir::Value gatedFeedForward(ModelBuilder &b, const ModelConfig &config, mlir::Value x);

/// The layer of Llama and its relatives: pre-norm attention and gated feed-forward, both residual.
mlir::Value preNormLayer(ModelBuilder &b, const ModelConfig &config, const SequenceContext &sequence,
                         const AttentionOptions &options, mlir::Value x);
/// The layer of Gemma: the same, each branch between two norms.
mlir::Value sandwichLayer(ModelBuilder &b, const ModelConfig &config, Norm norm,
                          const SequenceContext &sequence, const AttentionOptions &options, mlir::Value x);

/// From embeddings to final hidden states: `model.layers.N`, each behind its boundary, and `model.norm`.
mlir::Value decoder(ModelBuilder &b, const ModelConfig &config, Norm norm, mlir::Value x,
                    llvm::function_ref<mlir::Value(int64_t layer, mlir::Value x)> buildLayer);

} // namespace weft

#endif // WEFT_COMPILER_MODEL_BLOCKS_H
