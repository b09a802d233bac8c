//===- NnContraction.td - The one contraction, and reductions --------------===//
include "dialects/nn/NnBase.td"

def EinsumOp : NnOp<"einsum", [Pure, NnDifferentiable, NnShardable, NnCosted]> {
  let summary = "The one contraction.";
  let description = [{
    Multiplies two tensors and sums over every letter that the result does not have. Accumulates in float32 (float64
    if the result is f64) and rounds once to the result type, which may differ from the operands'. It differentiates
    by permuting its letters, shards by its letters, and costs twice the product of its letters.

    Example:
    ```mlir
    %y = nn.einsum "bsh,fh->bsf" (%x, %w) : (tensor<4x8x16xf32>, tensor<32x16xf32>) -> tensor<4x8x32xf32>
    ```

    Constraints: letters a-z, none twice in one term; every result letter is in an operand; a letter has one size;
    float element types.
  }];
  let arguments = (ins StrAttr:$equation, NnFloatTensor:$lhs, NnFloatTensor:$rhs);
  let results = (outs NnFloatTensor:$result);
  let assemblyFormat = "$equation `(` $lhs `,` $rhs `)` attr-dict `:` functional-type(operands, $result)";
  let hasVerifier = 1;
}

def ReductionAttr : I32EnumAttr<"Reduction", "how values are folded", [
    I32EnumAttrCase<"sum", 0>, I32EnumAttrCase<"max", 1>, I32EnumAttrCase<"min", 2>]> {
  let cppNamespace = "::weft::nn";
}

def ReduceOp : NnOp<"reduce", [Pure, NnDifferentiable, NnShardable, NnCosted]> {
  let summary = "Folds dimensions away.";
  let description = [{
    Accumulates in the result type (float32 for bf16 and f16). The derivative of max and min is shared equally among
    the elements that attain it.

    Example:
    ```mlir
    %y = nn.reduce sum %x [1] : tensor<4x8xf32> -> tensor<4xf32>
    ```

    Constraints: `dimensions` ascends and names dimensions of the operand; the result has the others; max and min keep
    the element type, sum may change it among floats or among integers.
  }];
  let arguments = (ins ReductionAttr:$kind, NnTensor:$operand, DenseI64ArrayAttr:$dimensions);
  let results = (outs NnTensor:$result);
  let assemblyFormat = "$kind $operand $dimensions attr-dict `:` type($operand) `->` type($result)";
  let hasVerifier = 1;
}

def CumulativeSumOp : NnOp<"cumulative_sum", [Pure, SameOperandsAndResultType, NnShardable, NnCosted]> {
  let summary = "The inclusive running sum along a dimension.";
  let description = [{
    Example:
    ```mlir
    %y = nn.cumulative_sum %x 1 : tensor<4x8xi32>
    ```

    Constraints: `dimension` is one of the operand's.
  }];
  let arguments = (ins NnTensor:$operand, I64Attr:$dimension);
  let results = (outs NnTensor:$result);
  let assemblyFormat = "$operand $dimension attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def TopKOp : NnOp<"top_k", [Pure, NnShardable, NnCosted]> {
  let summary = "The k largest values of the last dimension, and where they are.";
  let description = [{
    Descending; equal values by ascending index; NaN last. A discontinuous op: no cotangent passes.

    Example:
    ```mlir
    %v, %i = nn.top_k %x : tensor<4x8xf32> -> tensor<4x2xf32>, tensor<4x2xi32>
    ```

    Constraints: results have the operand's shape with k as the last size, k at most the operand's.
  }];
  let arguments = (ins NnFloatTensor:$operand);
  let results = (outs NnFloatTensor:$values, NnI32Tensor:$indices);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($values) `,` type($indices)";
  let hasVerifier = 1;
}

def SquaredNormOp : NnOp<"squared_norm", [Pure, NnDecomposable, NnShardable, NnCosted]> {
  let summary = "The sum of squares, in float64.";
  let description = [{
    What the global gradient norm folds: one scalar per parameter or, with `rows`, one per index of that dimension. A
    row is summed where it is whole, so that its bits do not depend on how a mesh splits the rows.

    Example:
    ```mlir
    %n = nn.squared_norm %g : tensor<4x8xf32> -> tensor<f64>
    %r = nn.squared_norm %g rows 0 : tensor<4x8xf32> -> tensor<4xf64>
    ```

    Constraints: the result is a scalar f64; with `rows`, a dimension of the operand, a vector of its size.
  }];
  let arguments = (ins NnFloatTensor:$operand, OptionalAttr<I64Attr>:$rows);
  let results = (outs NnF64Tensor:$result);
  let assemblyFormat = "$operand (`rows` $rows^)? attr-dict `:` type($operand) `->` type($result)";
  let hasVerifier = 1;
}
