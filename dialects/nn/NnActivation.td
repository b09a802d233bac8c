//===- NnActivation.td - Composites that are element-wise or row-wise ------===//
include "dialects/nn/NnBase.td"

def ActivationAttr : I32EnumAttr<"Activation", "a point-wise non-linearity", [
    I32EnumAttrCase<"silu", 0>, I32EnumAttrCase<"gelu", 1>, I32EnumAttrCase<"gelu_tanh", 2>,
    I32EnumAttrCase<"relu", 3>]> {
  let cppNamespace = "::weft::nn";
}

def ActivationOp : NnOp<"activation", [Pure, SameOperandsAndResultType, NnDecomposable, NnDifferentiable, NnShardable, NnCosted]> {
  let summary = "A point-wise non-linearity.";
  let description = [{
    silu(x) = x sigmoid(x); gelu(x) = x (1 + erf(x / sqrt 2)) / 2; gelu_tanh is its tanh approximation (arXiv:1606.08415);
    relu(x) = max(x, 0).

    Example:
    ```mlir
    %y = nn.activation silu %x : tensor<4x8xf32>
    ```

    Constraints: the result has the operand's type.
  }];
  let arguments = (ins ActivationAttr:$kind, NnFloatTensor:$operand);
  let results = (outs NnFloatTensor:$result);
  let assemblyFormat = "$kind $operand attr-dict `:` type($result)";
}

def GluOp : NnOp<"glu", [Pure, SameOperandsAndResultType, NnDecomposable, NnDifferentiable, NnShardable, NnCosted]> {
  let summary = "A gated linear unit: activation(gate) * up (arXiv:2002.05202).";
  let description = [{
    Example:
    ```mlir
    %y = nn.glu silu %gate, %up : tensor<4x8xf32>
    ```

    Constraints: operands and result have one type.
  }];
  let arguments = (ins ActivationAttr:$kind, NnFloatTensor:$gate, NnFloatTensor:$up);
  let results = (outs NnFloatTensor:$result);
  let assemblyFormat = "$kind $gate `,` $up attr-dict `:` type($result)";
}

def SoftmaxOp : NnOp<"softmax", [Pure, SameOperandsAndResultType, NnDecomposable, NnDifferentiable, NnShardable, NnCosted]> {
  let summary = "exp(x) over its sum, along the last dimension.";
  let description = [{
    The row maximum is subtracted first, so that nothing overflows.

    Example:
    ```mlir
    %p = nn.softmax %x : tensor<4x8xf32>
    ```

    Constraints: at least one dimension; the result has the operand's type.
  }];
  let arguments = (ins NnFloatTensor:$operand);
  let results = (outs NnFloatTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def DropoutOp : NnOp<"dropout", [Pure, AllTypesMatch<["operand", "result"]>, NnDecomposable, NnDifferentiable, NnShardable, NnCosted]> {
  let summary = "Zeroes elements at random and scales the others by 1 / (1 - rate).";
  let description = [{
    The mask is a function of (seed, step, op_id, sample id, position in the sample): it does not depend on micro
    batch, mesh or recompute, and the backward draws it again.

    Example:
    ```mlir
    %y = nn.dropout %x, %step, %ids {rate = 0.1, seed = 1 : i64, op_id = 7 : i64} : tensor<4x8xf32>, tensor<i64>, tensor<4xi64>
    ```

    Constraints: 0 <= rate < 1; `step` is a scalar; `sample_ids` has the operand's first dimension.
  }];
  let arguments = (ins NnFloatTensor:$operand, NnI64Tensor:$step, NnI64Tensor:$sample_ids, F64Attr:$rate,
                       I64Attr:$seed, I64Attr:$op_id);
  let results = (outs NnFloatTensor:$result);
  let assemblyFormat = "$operand `,` $step `,` $sample_ids attr-dict `:` type($operand) `,` type($step) `,` type($sample_ids)";
  let hasVerifier = 1;
}
