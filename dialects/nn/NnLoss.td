//===- NnLoss.td - The loss head --------------------------------------------===//
include "dialects/nn/NnBase.td"

def LinearCrossEntropyOp : NnOp<"linear_cross_entropy", [Pure, NnDecomposable, NnDifferentiable, NnShardable, NnCosted]> {
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

def LinearCrossEntropyBackwardOp : NnOp<"linear_cross_entropy_backward", [Pure, NnDecomposable, NnShardable, NnCosted]> {
  let summary = "Cotangents of linear_cross_entropy's input and weight.";
  let description = [{
    dlogits = dloss (p - (1 - label_smoothing) onehot(target) - label_smoothing / v) + dz 2 weight lse p, with p the
    softmax; through the derivative of the soft cap if there is one.

    Example:
    ```mlir
    %dx, %dw = nn.linear_cross_entropy_backward %dloss, %dz, %x, %w, %targets, %lse
      : (tensor<2x6xf32>, tensor<2x6xf32>, tensor<2x6x8xf32>, tensor<100x8xf32>, tensor<2x6xi32>, tensor<2x6xf32>)
      -> (tensor<2x6x8xf32>, tensor<100x8xf32>)
    ```

    Constraints: as linear_cross_entropy.
  }];
  let arguments = (ins NnFloatTensor:$loss_cotangent, NnFloatTensor:$z_loss_cotangent, NnFloatTensor:$input,
                       NnFloatTensor:$weight, NnI32Tensor:$targets, NnFloatTensor:$lse,
                       DefaultValuedAttr<I64Attr, "-100">:$ignore_index,
                       DefaultValuedAttr<F64Attr, "0.0">:$label_smoothing,
                       DefaultValuedAttr<F64Attr, "0.0">:$z_loss, DefaultValuedAttr<F64Attr, "0.0">:$softcap);
  let results = (outs NnFloatTensor:$input_cotangent, NnFloatTensor:$weight_cotangent);
  let assemblyFormat = [{
    $loss_cotangent `,` $z_loss_cotangent `,` $input `,` $weight `,` $targets `,` $lse attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}
