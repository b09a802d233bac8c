//===- NnProgram.td - Symbols, the step, layer boundaries ------------------===//
include "dialects/nn/NnBase.td"

def InitializerKindAttr : I32EnumAttr<"InitializerKind", "how a variable starts", [
    I32EnumAttrCase<"constant", 0>, I32EnumAttrCase<"normal", 1>, I32EnumAttrCase<"uniform", 2>]> {
  let cppNamespace = "::weft::nn";
}

class NnVariableOp<string mnemonic, list<Trait> traits = []> : NnOp<mnemonic, [Symbol] # traits> {
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttr:$type, InitializerKindAttr:$initializer,
                       DefaultValuedAttr<F64Attr, "0.0">:$mean, DefaultValuedAttr<F64Attr, "0.0">:$deviation);
  let hasVerifier = 1;
}

def ParameterOp : NnVariableOp<"parameter"> {
  let summary = "A trainable parameter: a symbol with a shape, a type and an initializer.";
  let description = [{
    The symbol's name is the checkpoint's. Initial values are functions of (seed, name, linear index): `constant` is
    `mean`; `normal` has `mean` and `deviation`; `uniform` is in [mean - deviation, mean + deviation).

    Example:
    ```mlir
    nn.parameter @model.norm.weight : tensor<8xf32> constant {mean = 1.0}
    nn.parameter @lm_head.weight : tensor<100x8xf32> normal {deviation = 0.02}
    ```

    Constraints: a static ranked float tensor of at most 2^48 bytes; `deviation` is at least 0; on a mesh, whole or split,
    nothing pending.
  }];
  let assemblyFormat = "$sym_name `:` $type $initializer attr-dict";
}

def StateOp : NnVariableOp<"state"> {
  let summary = "Persistent state that is not trained: moments, counters, the loss scale.";
  let description = [{
    Example:
    ```mlir
    nn.state @optimizer.step : tensor<i64> constant
    ```

    Constraints: a static ranked tensor of at most 2^48 bytes; `deviation` is at least 0; on a mesh, whole or split, nothing
    pending.
  }];
  let assemblyFormat = "$sym_name `:` $type $initializer attr-dict";
}

def CacheOp : NnOp<"cache", [Symbol]> {
  let summary = "What a function leaves to the functions that run after it.";
  let description = [{
    Keys and values of the text so far, in generation. A cache keeps its value until a program runs that does not name
    it: that one may use its memory. So it is no part of a checkpoint, and at first nothing may be known of it.

    Example:
    ```mlir
    nn.cache @model.layers.0.self_attn.key : tensor<1x64x2x8xf32>
    ```

    Constraints: a static ranked tensor of at most 2^48 bytes; on a mesh, whole or split, nothing pending.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttr:$type);
  let hasVerifier = 1;
  let assemblyFormat = "$sym_name `:` $type attr-dict";
}

def ReadOp : NnOp<"read", [MemoryEffects<[MemRead]>, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "The value of a parameter, state or cache.";
  let description = [{
    Sees the value from before the program: `nn.write` takes effect when the step, or the function, ends.

    Example:
    ```mlir
    %w = nn.read @lm_head.weight : tensor<100x8xf32>
    ```

    Constraints: the symbol is a parameter, state or cache of this type, placement included: its storage; a cache is read in
    a function.
  }];
  let arguments = (ins FlatSymbolRefAttr:$variable);
  let results = (outs NnTensor:$result);
  let assemblyFormat = "$variable attr-dict `:` type($result)";
}

def WriteOp : NnOp<"write", [MemoryEffects<[MemWrite]>, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Gives a parameter, state or cache its value for the next step.";
  let description = [{
    Of parameters and states only in the update of a step, of caches only in a function; once per symbol.

    Example:
    ```mlir
    nn.write @lm_head.weight, %w : tensor<100x8xf32>
    ```

    Constraints: the symbol is a parameter, state or cache of this type, placement included: its storage; a cache is written in a
    function, anything else in the update of a step, and neither in a module.
  }];
  let arguments = (ins FlatSymbolRefAttr:$variable, NnTensor:$value);
  let assemblyFormat = "$variable `,` $value attr-dict `:` type($value)";
}

def BoundaryOp : NnOp<"boundary", [Pure, SameOperandsAndResultType, NnDifferentiable, NnShardable, NnCosted]> {
  let summary = "An identity that marks where a layer begins.";
  let description = [{
    Survives autodiff: its VJP is a boundary. Stage cuts, module-wise gathers and recompute blocks hang on it.

    Example:
    ```mlir
    %y = nn.boundary 3 %x : tensor<2x6x8xf32>
    ```

    Constraints: the result has the operand's type.
  }];
  let arguments = (ins I64Attr:$layer, NnTensor:$operand, UnitAttr:$backward);
  let results = (outs NnTensor:$result);
  let assemblyFormat = "$layer $operand attr-dict `:` type($result)";
}

def LeafOp : NnOp<"leaf", [Pure, NnShardable, NnCosted]> {
  let summary = "An identity that marks a leaf of the canonical sum.";
  let description = [{
    What the microbatches of the data ranks give is added by one fixed binary tree, whose leaves are in the order of
    samples: a rank's microbatches are consecutive leaves, and the ranks are its upper levels. So the sum is the same bits
    on every number of data ranks. Of an even number of leaves it is the sum of the first half plus that of the second;
    an odd number is added one after another.

    On a mesh the operand is a pending sum over the data axes, each rank's term one leaf, and the result is a pending tree
    over them: `sum [d0]` becomes `tree [d0]`, which nothing but `nn.carry` (by `tree`) and a reshard takes.

    Example:
    ```mlir
    %l = nn.leaf %dw : tensor<4x8xf32> -> tensor<4x8xf32>
    nn.carry ["gradient/w/0"] ["tree"] %l : tensor<4x8xf32>
    ```

    Constraints: a float tensor, and the result has its shape and element type; on a mesh pending as a sum over
    exactly the axes of the role `data`.
  }];
  let arguments = (ins NnFloatTensor:$operand);
  let results = (outs NnFloatTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($result)";
  let hasVerifier = 1;
}

def JoinOp : NnOp<"join", [Pure, SameOperandsAndResultType, NnDecomposable, NnShardable, NnCosted]> {
  let summary = "Adds two neighboring subtrees of the canonical sum.";
  let description = [{
    `schedule` writes it where microbatches are folded by tree. An addition that may take pending trees: on every rank its
    operands are the sums of consecutive leaves, the earlier ones first.

    Example:
    ```mlir
    %s = nn.join %first, %second : tensor<4x8xf32>
    ```

    Constraints: operands and result have one float type, placement included.
  }];
  let arguments = (ins NnFloatTensor:$first, NnFloatTensor:$second);
  let results = (outs NnFloatTensor:$result);
  let assemblyFormat = "$first `,` $second attr-dict `:` type($result)";
}

def StepOp : NnOp<"step", [Symbol, IsolatedFromAbove]> {
  let summary = "One optimizer step, whole.";
  let description = [{
    `prepare` runs once, `microbatch` once per microbatch, `update` once. An input is per microbatch if prepare's
    argument is microbatch's with a leading dimension of `microbatches`, and per step if both have one type.
    Regions see nothing of each other but what is passed: prepare's yielded values are the last arguments of the
    others; what microbatch carries, folded over the microbatches by each value's combiner, comes first in update.
    Update yields the named outputs of the step.

    Example:
    ```mlir
    nn.step @train microbatches(2) inputs(["tokens", "step"])
      prepare { ^bb0(%tokens: tensor<2x4xi32>, %step: tensor<i64>): nn.yield }
      microbatch { ^bb0(%tokens: tensor<4xi32>, %step: tensor<i64>):
        %x = nn.cast %tokens : tensor<4xi32> -> tensor<4xf32>
        %loss = nn.reduce sum %x [0] : tensor<4xf32> -> tensor<f32>
        nn.carry ["loss"] ["sum"] %loss : tensor<f32> }
      update { ^bb0(%loss: tensor<f32>): nn.yield ["loss"] %loss : tensor<f32> }
    ```

    Constraints: arguments are tensors whose types agree as described; no input name twice; prepare ends in a yield without names, microbatch in a carry,
    update in a yield with names; `nn.write` only in update. On a mesh inputs are whole or split, and outputs are whole on
    every rank.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, I64Attr:$microbatches, StrArrayAttr:$input_names);
  let regions = (region SizedRegion<1>:$prepare, SizedRegion<1>:$microbatch, SizedRegion<1>:$update);
  let assemblyFormat = [{
    $sym_name `microbatches` `(` $microbatches `)` `inputs` `(` $input_names `)` attr-dict-with-keyword
    `prepare` $prepare `microbatch` $microbatch `update` $update
  }];
  let hasRegionVerifier = 1;
}

def YieldOp : NnOp<"yield", [Terminator, Pure, HasParent<"StepOp">]> {
  let summary = "Ends a region of a step.";
  let description = [{
    In update the values have names: they are the outputs of the step.

    Example:
    ```mlir
    nn.yield ["loss", "grad_norm"] %loss, %norm : tensor<f32>, tensor<f32>
    ```

    Constraints: in update one name per value, none twice.
  }];
  let arguments = (ins OptionalAttr<StrArrayAttr>:$names, Variadic<NnTensor>:$values);
  let assemblyFormat = "($names^)? ($values^ `:` type($values))? attr-dict";
}

def CarryOp : NnOp<"carry", [Terminator, Pure, HasParent<"StepOp">]> {
  let summary = "Ends the microbatch region: what is folded over microbatches.";
  let description = [{
    Sums accumulate in the value's type, in ascending microbatch order. `tree` is a sum, too, of the values that `nn.leaf`
    marks, and its additions are those of the tree: microbatches are the leaves that a rank has.

    Example:
    ```mlir
    nn.carry ["loss", "grad.w"] ["sum", "sum"] %loss, %dw : tensor<f32>, tensor<8xf32>
    ```

    Constraints: one name and one combiner (sum, max, min, tree) per value; no name twice; floats and integers, not i1, and
    by tree floats alone; a pending value is folded as it is pending, and by tree only one that is pending so over all
    axes of the role `data`.
  }];
  let arguments = (ins StrArrayAttr:$names, StrArrayAttr:$combiners, Variadic<NnTensor>:$values);
  let assemblyFormat = "$names $combiners ($values^ `:` type($values))? attr-dict";
  let hasVerifier = 1;
}
