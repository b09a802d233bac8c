//===- NnLoss.td - The loss head --------------------------------------------===//
include "dialects/nn/NnBase.td"

def LinearCrossEntropyOp : NnOp<"linear_cross_entropy",
    [Pure, NnDecomposable, NnDifferentiable, NnShardable, NnCosted, NnMergeable]> {
  let summary = "Output projection and cross-entropy in one, per token.";
  let description = [{
    logits = x w^T in float32, soft-capped if `softcap` is not 0; lse = log sum exp(logits);
    loss = lse - (1 - label_smoothing) logit[target] - label_smoothing mean(logits); z_loss = weight lse^2
    (arXiv:2204.02311). Tokens whose target is `ignore_index`, or out of range, have loss and z_loss 0. No tensor of
    rows x vocabulary exists. `lse` is a residual: no cotangent passes through it.

    Example:
    ```mlir
    %loss, %z, %lse = nn.linear_cross_entropy %x, %w, %targets
      : (tensor<2x6x8xf32>, tensor<100x8xf32>, tensor<2x6xi32>) -> (tensor<2x6xf32>, tensor<2x6xf32>, tensor<2x6xf32>)
    ```

    Constraints: x [..., h], w [v, h], targets [...]; results in the shape of the targets, f32 (or f64).
  }];
  let arguments = (ins NnFloatTensor:$input, NnFloatTensor:$weight, NnI32Tensor:$targets,
                       DefaultValuedAttr<I64Attr, "-100">:$ignore_index,
                       DefaultValuedAttr<F64Attr, "0.0">:$label_smoothing,
                       DefaultValuedAttr<F64Attr, "0.0">:$z_loss, DefaultValuedAttr<F64Attr, "0.0">:$softcap);
  let results = (outs NnFloatTensor:$loss, NnFloatTensor:$z_loss_value, NnFloatTensor:$lse);
  let assemblyFormat = "$input `,` $weight `,` $targets attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def LinearCrossEntropyStatisticsOp : NnOp<"linear_cross_entropy_statistics",
    [Pure, NnDecomposable, NnShardable, NnCosted]> {
  let summary = "What a part of the vocabulary contributes to a cross-entropy.";
  let description = [{
    Of logits = x w^T in float32, soft-capped if `softcap` is not 0, per token: lse = log sum exp(logits), the logit at
    the target, and the plain sum of all logits. A target outside [0, v) belongs to another part: its logit is 0 here.
    Parts merge: the whole lse is the log-sum-exp of the parts', the other two are sums, so the vocabulary may be split.
    With `valid`, only the first that many rows of w exist (a part's padded tail does not); of none, lse is -inf.

    Example:
    ```mlir
    %lse, %target, %sum = nn.linear_cross_entropy_statistics %x, %w, %targets
      : (tensor<2x6x8xf32>, tensor<50x8xf32>, tensor<2x6xi32>) -> (tensor<2x6xf32>, tensor<2x6xf32>, tensor<2x6xf32>)
    ```

    Constraints: x [..., h], w [v, h], targets [...], valid a scalar; results in the shape of the targets, f32 (or f64).
  }];
  let arguments = (ins NnFloatTensor:$input, NnFloatTensor:$weight, NnI32Tensor:$targets, Optional<NnI64Tensor>:$valid,
                       DefaultValuedAttr<F64Attr, "0.0">:$softcap);
  let results = (outs NnFloatTensor:$lse, NnFloatTensor:$target_logit, NnFloatTensor:$logit_sum);
  let assemblyFormat = [{
    $input `,` $weight `,` $targets (`valid` $valid^)? attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def LinearCrossEntropyBackwardOp : NnOp<"linear_cross_entropy_backward",
    [Pure, NnDecomposable, NnShardable, NnCosted, NnMergeable]> {
  let summary = "Cotangents of linear_cross_entropy's input and weight.";
  let description = [{
    dlogits = dloss (p - (1 - label_smoothing) onehot(target) - label_smoothing / v) + dz 2 weight lse p, with p the
    softmax; through the derivative of the soft cap if there is one. Ignored rows have none. Where x is bf16, dlogits is
    rounded to it: like x and w, it is an operand of products.

    With `part_of = n` the weight is a part, or all, of a vocabulary of n words, and may be split: a target outside
    [0, v) belongs to another part, label_smoothing is shared by n, and ignored rows are those whose cotangents are 0.
    With `valid`, only the first that many rows of w exist; the cotangent of the others is 0.

    Example:
    ```mlir
    %dx, %dw = nn.linear_cross_entropy_backward %dloss, %dz, %x, %w, %targets, %lse
      : (tensor<2x6xf32>, tensor<2x6xf32>, tensor<2x6x8xf32>, tensor<100x8xf32>, tensor<2x6xi32>, tensor<2x6xf32>)
      -> (tensor<2x6x8xf32>, tensor<100x8xf32>)
    ```

    Constraints: as linear_cross_entropy; `part_of` is at least v, and takes the default `ignore_index`; `valid` needs
    `part_of`.
  }];
  let arguments = (ins NnFloatTensor:$loss_cotangent, NnFloatTensor:$z_loss_cotangent, NnFloatTensor:$input,
                       NnFloatTensor:$weight, NnI32Tensor:$targets, NnFloatTensor:$lse,
                       Optional<NnI64Tensor>:$valid, DefaultValuedAttr<I64Attr, "-100">:$ignore_index,
                       DefaultValuedAttr<F64Attr, "0.0">:$label_smoothing,
                       DefaultValuedAttr<F64Attr, "0.0">:$z_loss, DefaultValuedAttr<F64Attr, "0.0">:$softcap,
                       OptionalAttr<I64Attr>:$part_of);
  let results = (outs NnFloatTensor:$input_cotangent, NnFloatTensor:$weight_cotangent);
  let assemblyFormat = [{
    $loss_cotangent `,` $z_loss_cotangent `,` $input `,` $weight `,` $targets `,` $lse (`valid` $valid^)? attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}
