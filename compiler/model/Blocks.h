//===- Blocks.h - The blocks that decoder families share ---------------------===//
//
// Activations are [batch, sequence, ...]. Attention weights keep heads and head dimension apart ([heads,
// dimension, hidden]), so that no split ever cuts a head; import and export reshape.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_MODEL_BLOCKS_H
#define WEFT_COMPILER_MODEL_BLOCKS_H

#include "compiler/model/KeyValueCache.h"
#include "compiler/model/ModelBuilder.h"
#include "runtime/config/Config.h"

#include <optional>

namespace weft {

/// Cosine and sine of rotary embedding, f32 [sequence, rotated / 2]; null without rotary embedding.
struct RotaryTables {
  mlir::Value cosine, sine;
};

/// What attention knows of the sequence.
struct SequenceContext {
  RotaryTables tables;
  /// Of each token, i32 [batch, sequence]; null where attention is computed of the whole sequence, whose
  /// tokens stand in order.
  mlir::Value positions;
  /// In generation, the keys and values that are kept.
  std::optional<KeyValueCache> cache = {};
};

/// Tables for positions 0 .. sequence - 1 under the config's scaling, or for those from `first`, an i64
/// scalar, on. Computed in float64.
RotaryTables buildRotaryTables(ModelBuilder &b, const ModelConfig &config, int64_t sequence,
                               mlir::Value first = {});

/// Token ids [batch, sequence] -> [batch, sequence, hidden], from the table `embed_tokens.weight`.
mlir::Value embedding(ModelBuilder &b, const ModelConfig &config, mlir::Value tokens);
/// Root-mean-square norm with the weight `NAME.weight`.
mlir::Value rmsNorm(ModelBuilder &b, const ModelConfig &config, llvm::StringRef name, mlir::Value x);
/// Causal self-attention with query groups and rotary embedding: q_proj, k_proj, v_proj, o_proj.
mlir::Value selfAttention(ModelBuilder &b, const ModelConfig &config, const SequenceContext &sequence,
                          mlir::Value x);
/// down_proj(activation(gate_proj x) * up_proj x).
mlir::Value gatedFeedForward(ModelBuilder &b, const ModelConfig &config, mlir::Value x);

} // namespace weft

#endif // WEFT_COMPILER_MODEL_BLOCKS_H
