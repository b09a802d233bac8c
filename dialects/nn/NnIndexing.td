//===- NnIndexing.td - Constants, generators, gather and scatter ----------===//
include "dialects/nn/NnBase.td"

// Values that stand in the program itself: neither resources nor sparse elements.
def NnDenseElements : ConfinedAttr<ElementsAttr,
    [AttrConstraint<CPred<"::llvm::isa<::mlir::DenseElementsAttr>($_self)">, "dense">]>;

def ConstantOp : NnOp<"constant", [Pure, ConstantLike, AllTypesMatch<["value", "result"]>, NnShardable, NnCosted]> {
  let summary = "A value known when the program is built.";
  let description = "Example:\n```mlir\n%c = nn.constant dense<1.0> : tensor<4xf32>\n```\n\nConstraints: dense elements of the result's type.";
  let arguments = (ins NnDenseElements:$value);
  let results = (outs NnTensor:$result);
  let assemblyFormat = "$value attr-dict";
  let hasFolder = 1;
}

def IotaOp : NnOp<"iota", [Pure, NnShardable, NnCosted]> {
  let summary = "Each element is its index along a dimension.";
  let description = "Example:\n```mlir\n%i = nn.iota 1 : tensor<4x8xi32>\n```\n\nConstraints: `dimension` is one of the result's.";
  let arguments = (ins I64Attr:$dimension);
  let results = (outs NnTensor:$result);
  let assemblyFormat = "$dimension attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def RandomUniformOp : NnOp<"random_uniform", [Pure, NnShardable, NnCosted]> {
  let summary = "Uniform numbers in [0, 1) that depend on logical indices alone.";
  let description = [{
    Philox 4x32-10 with key = xxh64(seed, step, op_id) and counter = (sample id, linear index in the remaining
    dimensions / 4): the numbers of a sample do not depend on batch, mesh or recompute.

    Example:
    ```mlir
    %u = nn.random_uniform %step, %ids {seed = 1 : i64, op_id = 42 : i64} : tensor<i64>, tensor<4xi64> -> tensor<4x8xf32>
    ```

    Constraints: `step` is a scalar; `sample_ids` has the result's first dimension.
  }];
  let arguments = (ins NnI64Tensor:$step, NnI64Tensor:$sample_ids, I64Attr:$seed, I64Attr:$op_id);
  let results = (outs NnF32Tensor:$result);
  let assemblyFormat = "$step `,` $sample_ids attr-dict `:` type($step) `,` type($sample_ids) `->` type($result)";
  let hasVerifier = 1;
}

def GatherOp : NnOp<"gather", [Pure, NnDifferentiable, NnShardable, NnCosted]> {
  let summary = "Rows of a table.";
  let description = [{
    An index out of range reads 0.

    Example:
    ```mlir
    %y = nn.gather %table, %ids : (tensor<100x8xf32>, tensor<4x6xi32>) -> tensor<4x6x8xf32>
    ```

    Constraints: the result's shape is the indices' followed by the table's without its first dimension.
  }];
  let arguments = (ins NnTensor:$table, NnIntegerTensor:$indices);
  let results = (outs NnTensor:$result);
  let assemblyFormat = "$table `,` $indices attr-dict `:` functional-type(operands, $result)";
  let hasVerifier = 1;
}

def ScatterAddOp : NnOp<"scatter_add", [Pure, NnDifferentiable, NnShardable, NnCosted]> {
  let summary = "Adds rows into a table of zeros.";
  let description = [{
    In ascending order of the linear position in `indices`; an index out of range is dropped. Sums in float32 and
    rounds once to the result type.

    Example:
    ```mlir
    %t = nn.scatter_add %ids, %rows : (tensor<4x6xi32>, tensor<4x6x8xf32>) -> tensor<100x8xf32>
    ```

    Constraints: the shape of `updates` is the indices' followed by the result's without its first dimension.
  }];
  let arguments = (ins NnIntegerTensor:$indices, NnFloatTensor:$updates);
  let results = (outs NnFloatTensor:$result);
  let assemblyFormat = "$indices `,` $updates attr-dict `:` functional-type(operands, $result)";
  let hasVerifier = 1;
}
