//===- NnShape.td - Primitives that move values without computing ---------===//
include "dialects/nn/NnBase.td"

def ReshapeOp : NnOp<"reshape", [Pure, NnDifferentiable, NnShardable, NnCosted]> {
  let summary = "The same values in row-major order under another shape.";
  let description = [{
    Example:
    ```mlir
    %y = nn.reshape %x : tensor<4x6xf32> -> tensor<4x2x3xf32>
    ```

    Constraints: same element type, same number of elements.
  }];
  let arguments = (ins NnTensor:$operand);
  let results = (outs NnTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def TransposeOp : NnOp<"transpose", [Pure, NnDifferentiable, NnShardable, NnCosted]> {
  let summary = "Permutes dimensions.";
  let description = [{
    Result dimension i is operand dimension `permutation[i]`.

    Example:
    ```mlir
    %y = nn.transpose %x [1, 0] : tensor<4x6xf32> -> tensor<6x4xf32>
    ```

    Constraints: `permutation` names each dimension once.
  }];
  let arguments = (ins NnTensor:$operand, DenseI64ArrayAttr:$permutation);
  let results = (outs NnTensor:$result);
  let assemblyFormat = "$operand $permutation attr-dict `:` type($operand) `->` type($result)";
  let hasVerifier = 1;
}

def BroadcastOp : NnOp<"broadcast", [Pure, NnDifferentiable, NnShardable, NnCosted]> {
  let summary = "Repeats values along new dimensions.";
  let description = [{
    Operand dimension i becomes result dimension `dimensions[i]`; the value repeats along every other one.

    Example:
    ```mlir
    %y = nn.broadcast %w [2] : tensor<8xf32> -> tensor<4x6x8xf32>
    ```

    Constraints: `dimensions` ascends; sizes agree; same element type.
  }];
  let arguments = (ins NnTensor:$operand, DenseI64ArrayAttr:$dimensions);
  let results = (outs NnTensor:$result);
  let assemblyFormat = "$operand $dimensions attr-dict `:` type($operand) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def SliceOp : NnOp<"slice", [Pure, NnDifferentiable, NnShardable, NnCosted]> {
  let summary = "A contiguous block.";
  let description = [{
    Starts at `offsets`, to which dynamic `starts` (one i64 scalar per dimension, or none at all) are added; the start
    is clamped so that the block fits. The block's sizes are the result's.

    Example:
    ```mlir
    %y = nn.slice %x [0, 2] : tensor<4x6xf32> -> tensor<4x3xf32>
    %z = nn.slice %x [0, 0](%i, %j : tensor<i64>, tensor<i64>) : tensor<4x6xf32> -> tensor<1x6xf32>
    ```

    Constraints: one offset per dimension; without starts the block lies inside the operand.
  }];
  let arguments = (ins NnTensor:$operand, Variadic<NnI64Tensor>:$starts, DenseI64ArrayAttr:$offsets);
  let results = (outs NnTensor:$result);
  let hasVerifier = 1;
  let assemblyFormat = [{
    $operand $offsets (`(` $starts^ `:` type($starts) `)`)? attr-dict `:` type($operand) `->` type($result)
  }];
}

def UpdateSliceOp : NnOp<"update_slice", [Pure, NnDifferentiable, NnShardable, NnCosted]> {
  let summary = "A tensor with a block of it replaced.";
  let description = [{
    The block `update` stands where nn.slice of its sizes would read: at `offsets`, to which dynamic `starts` (one i64
    scalar per dimension, or none at all) are added, clamped so that the block fits.

    Example:
    ```mlir
    %y = nn.update_slice %x, %u [0, 2] : tensor<4x6xf32>, tensor<4x3xf32> -> tensor<4x6xf32>
    %z = nn.update_slice %x, %r [0, 0](%i, %j : tensor<i64>, tensor<i64>) : tensor<4x6xf32>, tensor<1x6xf32> -> tensor<4x6xf32>
    ```

    Constraints: the result has the operand's type, the update its element type and rank; one offset per dimension; without starts
    the block lies inside the operand.
  }];
  let arguments = (ins NnTensor:$operand, NnTensor:$update, Variadic<NnI64Tensor>:$starts, DenseI64ArrayAttr:$offsets);
  let results = (outs NnTensor:$result);
  let hasVerifier = 1;
  let assemblyFormat = [{
    $operand `,` $update $offsets (`(` $starts^ `:` type($starts) `)`)? attr-dict
    `:` type($operand) `,` type($update) `->` type($result)
  }];
}

def ConcatenateOp : NnOp<"concatenate", [Pure, NnDifferentiable, NnShardable, NnCosted]> {
  let summary = "Puts tensors one after another along a dimension.";
  let description = [{
    Example:
    ```mlir
    %y = nn.concatenate 1 (%a, %b) : (tensor<4x2xf32>, tensor<4x3xf32>) -> tensor<4x5xf32>
    ```

    Constraints: equal sizes along every other dimension; same element type; at least one operand.
  }];
  let arguments = (ins Variadic<NnTensor>:$inputs, I64Attr:$dimension);
  let results = (outs NnTensor:$result);
  let assemblyFormat = "$dimension `(` $inputs `)` attr-dict `:` functional-type($inputs, $result)";
  let hasVerifier = 1;
}

def PadOp : NnOp<"pad", [Pure, NnDifferentiable, NnShardable, NnCosted]> {
  let summary = "Adds a constant around a tensor.";
  let description = [{
    Example:
    ```mlir
    %y = nn.pad %x [0, 1] [0, 2] 0.0 : tensor<4x3xf32> -> tensor<4x6xf32>
    ```

    Constraints: `low` and `high` have one entry of at least 0 per dimension.
  }];
  let arguments = (ins NnTensor:$operand, DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$high, F64Attr:$value);
  let results = (outs NnTensor:$result);
  let assemblyFormat = "$operand $low $high $value attr-dict `:` type($operand) `->` type($result)";
  let hasVerifier = 1;
}
