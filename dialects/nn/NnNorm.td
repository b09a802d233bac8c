//===- NnNorm.td - Normalizations and rotary embedding, with backward ------===//
include "dialects/nn/NnBase.td"

def RmsNormOp : NnOp<"rms_norm", [Pure, NnDecomposable, NnDifferentiable, NnShardable, NnCosted]> {
  let summary = "Root-mean-square normalization (arXiv:1910.07467).";
  let description = [{
    y = x rstd (w + weight_offset) with rstd = 1 / sqrt(mean(x^2) + epsilon) over the last dimension, statistics in
    float32. The reciprocal deviation is the residual of the backward.

    Example:
    ```mlir
    %y, %r = nn.rms_norm %x, %w {epsilon = 1.0e-5} : (tensor<4x8xf32>, tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4xf32>)
    ```

    Constraints: the weight has the last dimension's size; rstd is f32 without the last dimension.
  }];
  let arguments = (ins NnFloatTensor:$input, NnFloatTensor:$weight, F64Attr:$epsilon,
                       DefaultValuedAttr<F64Attr, "0.0">:$weight_offset);
  let results = (outs NnFloatTensor:$result, NnFloatTensor:$rstd);
  let assemblyFormat = "$input `,` $weight attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def RmsNormBackwardOp : NnOp<"rms_norm_backward", [Pure, NnDecomposable, NnShardable, NnCosted]> {
  let summary = "Cotangents of rms_norm's input and weight.";
  let description = [{
    With n = x rstd: dw = sum over rows of dy n; dx = rstd (g - n mean(g n)), where g = dy (w + weight_offset).

    Example:
    ```mlir
    %dx, %dw = nn.rms_norm_backward %dy, %x, %w, %r {epsilon = 1.0e-5} : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<8xf32>, tensor<4xf32>) -> (tensor<4x8xf32>, tensor<8xf32>)
    ```

    Constraints: as rms_norm.
  }];
  let arguments = (ins NnFloatTensor:$cotangent, NnFloatTensor:$input, NnFloatTensor:$weight, NnFloatTensor:$rstd,
                       F64Attr:$epsilon, DefaultValuedAttr<F64Attr, "0.0">:$weight_offset);
  let results = (outs NnFloatTensor:$input_cotangent, NnFloatTensor:$weight_cotangent);
  let assemblyFormat = "$cotangent `,` $input `,` $weight `,` $rstd attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def LayerNormOp : NnOp<"layer_norm", [Pure, NnDecomposable, NnDifferentiable, NnShardable, NnCosted]> {
  let summary = "Layer normalization (arXiv:1607.06450).";
  let description = [{
    y = (x - mean) rstd w + b over the last dimension, statistics in float32.

    Example:
    ```mlir
    %y, %m, %r = nn.layer_norm %x, %w, %b {epsilon = 1.0e-5} : (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>)
    ```

    Constraints: weight and bias have the last dimension's size; mean and rstd are f32 without the last dimension.
  }];
  let arguments = (ins NnFloatTensor:$input, NnFloatTensor:$weight, NnFloatTensor:$bias, F64Attr:$epsilon);
  let results = (outs NnFloatTensor:$result, NnFloatTensor:$mean, NnFloatTensor:$rstd);
  let assemblyFormat = "$input `,` $weight `,` $bias attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def LayerNormBackwardOp : NnOp<"layer_norm_backward", [Pure, NnDecomposable, NnShardable, NnCosted]> {
  let summary = "Cotangents of layer_norm's input, weight and bias.";
  let description = [{
    With n = (x - mean) rstd: dw = sum of dy n, db = sum of dy, dx = rstd (g - mean(g) - n mean(g n)), g = dy w.

    Example:
    ```mlir
    %dx, %dw, %db = nn.layer_norm_backward %dy, %x, %w, %m, %r {epsilon = 1.0e-5} : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<8xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>)
    ```

    Constraints: as layer_norm.
  }];
  let arguments = (ins NnFloatTensor:$cotangent, NnFloatTensor:$input, NnFloatTensor:$weight, NnFloatTensor:$mean,
                       NnFloatTensor:$rstd, F64Attr:$epsilon);
  let results = (outs NnFloatTensor:$input_cotangent, NnFloatTensor:$weight_cotangent, NnFloatTensor:$bias_cotangent);
  let assemblyFormat = "$cotangent `,` $input `,` $weight `,` $mean `,` $rstd attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def RopeOp : NnOp<"rope", [Pure, NnDecomposable, NnDifferentiable, NnShardable, NnCosted]> {
  let summary = "Rotary position embedding (arXiv:2104.09864).";
  let description = [{
    Rotates pairs of the last dimension by the angle whose cosine and sine the tables hold. Pairs are (i, i + r/2), or
    (2i, 2i + 1) if `interleaved`, for the first r dimensions, r twice the tables' last size; the others pass.
    `inverse` rotates by the negative angle: it is the backward. Scaling variants differ in their tables alone.

    Example:
    ```mlir
    %y = nn.rope %x, %cos, %sin : (tensor<2x6x4x8xf32>, tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<2x6x4x8xf32>
    ```

    Constraints: input [batch, sequence, heads, dimension]; tables [sequence, r/2] or [batch, sequence, r/2].
  }];
  let arguments = (ins NnFloatTensor:$input, NnF32Tensor:$cosine, NnF32Tensor:$sine, UnitAttr:$inverse,
                       UnitAttr:$interleaved);
  let results = (outs NnFloatTensor:$result);
  let assemblyFormat = "$input `,` $cosine `,` $sine attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}
