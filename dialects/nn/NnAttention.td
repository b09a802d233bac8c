//===- NnAttention.td - Attention and its backward -------------------------===//
include "dialects/nn/NnBase.td"

class NnAttentionOpBase<string mnemonic, list<Trait> traits> : NnOp<mnemonic,
    [Pure, AttrSizedOperandSegments, NnDecomposable, NnShardable, NnCosted] # traits> {
  let hasVerifier = 1;
}

def AttentionOp : NnAttentionOpBase<"attention", [NnDifferentiable]> {
  let summary = "Scaled dot-product attention with query groups.";
  let description = [{
    Scores q k^T scale, soft-capped (cap tanh(score / cap)) if `softcap` is not 0; a query at position i sees a key at
    position j if j <= i (`causal`), i - j < `window` (if not 0), and their segments are equal (packed segments).
    `positions` says where queries and keys are, in any order; without it row r of the queries is at r + t - s and row c
    of the keys at c. A query that knows its position may be computed apart from the others: with positions the queries
    may be split, keys and values are needed whole; marked `ring` they are split as the queries are, and `partition` writes
    a dist.ring. A sink is a score per head that takes part in the sum and has no
    value (arXiv:2309.17453). Softmax in float32; of bf16 operands exp(score - max) is rounded, its sum is not. A row that sees
    nothing gives 0 and lse = its sink (-inf without sinks). The log-sum-exp is what the backward and merging need.

    Example:
    ```mlir
    %o, %lse = nn.attention %q, %k, %v {scale = 0.5, causal}
      : (tensor<2x6x4x8xf32>, tensor<2x6x2x8xf32>, tensor<2x6x2x8xf32>) -> (tensor<2x6x4x8xf32>, tensor<2x4x6xf32>)
    %p, %l = nn.attention %q, %k, %v positions(%i, %j) {scale = 0.5, causal}
      : (tensor<2x6x4x8xf32>, tensor<2x6x2x8xf32>, tensor<2x6x2x8xf32>, tensor<2x6xi32>, tensor<2x6xi32>)
      -> (tensor<2x6x4x8xf32>, tensor<2x4x6xf32>)
    ```

    Constraints: q [batch, s, heads, d], k [batch, t, groups, d], v [batch, t, groups, e]; heads a multiple of groups;
    o [batch, s, heads, e] in q's type, or in f32 if it is to be merged, lse [batch, heads, s] in f32; segments and
    positions [batch, s] and [batch, t], both of a pair or none; `ring` in the global view alone, with positions, s = t.
  }];
  let arguments = (ins NnFloatTensor:$query, NnFloatTensor:$key, NnFloatTensor:$value,
                       Optional<NnI32Tensor>:$query_segments, Optional<NnI32Tensor>:$key_segments,
                       Optional<NnI32Tensor>:$query_positions, Optional<NnI32Tensor>:$key_positions,
                       Optional<NnFloatTensor>:$sinks, F64Attr:$scale, UnitAttr:$causal,
                       DefaultValuedAttr<I64Attr, "0">:$window, DefaultValuedAttr<F64Attr, "0.0">:$softcap,
                       UnitAttr:$ring);
  let results = (outs NnFloatTensor:$result, NnFloatTensor:$lse);
  let assemblyFormat = [{
    $query `,` $key `,` $value (`segments` `(` $query_segments^ `,` $key_segments `)`)?
    (`positions` `(` $query_positions^ `,` $key_positions `)`)? (`sinks` `(` $sinks^ `)`)?
    attr-dict `:` functional-type(operands, results)
  }];
}

def AttentionBackwardOp : NnAttentionOpBase<"attention_backward", []> {
  let summary = "Cotangents of attention's query, key, value and sinks.";
  let description = [{
    Recomputes probabilities from the log-sum-exp; ds = p (do v^T - rowsum(do o)). Of bf16 operands p and ds are rounded.

    Example:
    ```mlir
    %dq, %dk, %dv = nn.attention_backward %do, %q, %k, %v, %o, %lse {scale = 0.5, causal}
      : (tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x6x2x8xf32>, tensor<2x6x2x8xf32>, tensor<2x6x4x8xf32>, tensor<2x4x6xf32>)
      -> (tensor<2x6x4x8xf32>, tensor<2x6x2x8xf32>, tensor<2x6x2x8xf32>)
    ```

    Constraints: as attention; a fourth result exactly if there are sinks.
  }];
  let arguments = (ins NnFloatTensor:$cotangent, NnFloatTensor:$query, NnFloatTensor:$key, NnFloatTensor:$value,
                       NnFloatTensor:$output, NnFloatTensor:$lse,
                       Optional<NnI32Tensor>:$query_segments, Optional<NnI32Tensor>:$key_segments,
                       Optional<NnI32Tensor>:$query_positions, Optional<NnI32Tensor>:$key_positions,
                       Optional<NnFloatTensor>:$sinks, F64Attr:$scale, UnitAttr:$causal,
                       DefaultValuedAttr<I64Attr, "0">:$window, DefaultValuedAttr<F64Attr, "0.0">:$softcap,
                       UnitAttr:$ring);
  let results = (outs NnFloatTensor:$query_cotangent, NnFloatTensor:$key_cotangent, NnFloatTensor:$value_cotangent,
                      Optional<NnFloatTensor>:$sinks_cotangent);
  let assemblyFormat = [{
    $cotangent `,` $query `,` $key `,` $value `,` $output `,` $lse
    (`segments` `(` $query_segments^ `,` $key_segments `)`)?
    (`positions` `(` $query_positions^ `,` $key_positions `)`)? (`sinks` `(` $sinks^ `)`)?
    attr-dict `:` functional-type(operands, results)
  }];
}

def AttentionMergeOp : NnOp<"attention_merge", [Pure, NnDecomposable, NnShardable, NnCosted,
    AllTypesMatch<["output", "other_output", "result"]>, AllTypesMatch<["lse", "other_lse", "result_lse"]>]> {
  let summary = "Attention to some keys, and attention to others, as attention to all of them.";
  let description = [{
    lse' = log(exp(lse) + exp(other lse)), o' = o exp(lse - lse') + other o exp(other lse - lse'): exact algebra, in
    whichever order keys come. Where a row saw nothing on one side (lse = -inf) it is the other side; where it saw
    nothing at all it stays 0 and -inf.

    Example:
    ```mlir
    %o, %l = nn.attention_merge %o0, %l0, %o1, %l1 : tensor<2x6x4x8xf32>, tensor<2x4x6xf32>
    ```

    Constraints: outputs [batch, s, heads, e] of one type, log-sum-exps [batch, heads, s] of one type: f32, f64 with
    f64 outputs.
  }];
  let arguments = (ins NnFloatTensor:$output, NnFloatTensor:$lse, NnFloatTensor:$other_output, NnFloatTensor:$other_lse);
  let results = (outs NnFloatTensor:$result, NnFloatTensor:$result_lse);
  let assemblyFormat = [{
    $output `,` $lse `,` $other_output `,` $other_lse attr-dict `:` type($output) `,` type($lse)
  }];
  let hasVerifier = 1;
}
