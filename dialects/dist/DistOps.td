//===- DistOps.td - What changes a placement --------------------------------===//
#ifndef WEFT_DIALECTS_DIST_DISTOPS
#define WEFT_DIALECTS_DIST_DISTOPS

include "dialects/dist/DistBase.td"
include "dialects/dist/DistMessages.td"

def TokenType : TypeDef<DistDialect, "Token"> {
  let mnemonic = "token";
  let summary = "A collective on its way; `dist.wait` gives its result.";
  let parameters = (ins "::mlir::RankedTensorType":$tensor);
  let assemblyFormat = "`<` $tensor `>`";
}

def PendingKindAttr : I32EnumAttr<"PendingKind", "which reduction is still to be taken", [
    I32EnumAttrCase<"sum", 0>, I32EnumAttrCase<"max", 1>, I32EnumAttrCase<"lse", 2>, I32EnumAttrCase<"tree", 3>]> {
  let cppNamespace = "::weft::dist";
}

def ReshardOp : DistOp<"reshard", [Pure]> {
  let summary = "The same value at another placement.";
  let description = [{
    In the global view the only op that changes a placement. Pending axes that the result does not have are reduced;
    axes that the result has more of split what was replicated, or make a pending sum of it (one rank keeps the value).
    `partition` lowers it over the shortest path of collectives.

    Example:
    ```mlir
    %y = dist.reshard %x : tensor<4x8xf32, #dist.at<#mesh, [], [], sum [t0]>> -> tensor<4x8xf32, #dist.at<#mesh, [t0], []>>
    ```

    Constraints: global types of one shape, element type and mesh; what becomes a pending sum was replicated or already
    pending, and nothing becomes a pending maximum, log-sum-exp or tree; of a tree the minor axes are reduced first.
  }];
  let arguments = (ins DistTensor:$operand);
  let results = (outs DistTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

// A collective that starts here; its axes are the group, major to minor.
class DistStartOp<string mnemonic> : DistOp<mnemonic # ".start"> {
  let results = (outs TokenType:$token);
  let hasVerifier = 1;
}

def AllGatherStartOp : DistStartOp<"all_gather"> {
  let summary = "Puts a dimension together over the axes that split it last.";
  let description = [{
    Example:
    ```mlir
    %t = dist.all_gather.start %x over ["t0"] dim 1 : tensor<2x4xf32, #part> -> !dist.token<tensor<2x8xf32, #whole>>
    %y = dist.wait %t : !dist.token<tensor<2x8xf32, #whole>>
    ```

    Constraints: local types; the axes are the minor end of the dimension's split, several only where they divide it
    evenly; the result is no longer split over them.
  }];
  let arguments = (ins DistTensor:$operand, StrArrayAttr:$axes, I64Attr:$dimension);
  let assemblyFormat = "$operand `over` $axes `dim` $dimension attr-dict `:` type($operand) `->` type($token)";
}

def AllReduceStartOp : DistStartOp<"all_reduce"> {
  let summary = "Takes a pending reduction; every rank gets all of it.";
  let description = [{
    Example:
    ```mlir
    %t = dist.all_reduce.start sum %x over ["t0"] : tensor<2x4xf32, #pending> -> !dist.token<tensor<2x4xf32, #done>>
    ```

    The kind says the reduction: `sum`, `max`, `lse`, the logarithm of the sum of exponentials, or `tree`, the sum by the
    fixed binary tree.

    Constraints: local types; the value is pending over the axes in this way; the result is not. A tree's axes are the
    minor end of those over which it is pending, in their order.
  }];
  let arguments = (ins PendingKindAttr:$kind, DistTensor:$operand, StrArrayAttr:$axes);
  let assemblyFormat = "$kind $operand `over` $axes attr-dict `:` type($operand) `->` type($token)";
}

def ReduceScatterStartOp : DistStartOp<"reduce_scatter"> {
  let summary = "Takes a pending reduction; every rank gets its part of a dimension.";
  let description = [{
    Example:
    ```mlir
    %t = dist.reduce_scatter.start sum %x over ["t0"] dim 1 : tensor<2x8xf32, #pending> -> !dist.token<tensor<2x4xf32, #part>>
    ```

    Constraints: local types; the value is pending over the axes in this way; in the result they split the dimension
    last, several only where they divide it evenly. A tree's axes are the minor end of those over which it is pending,
    in their order.
  }];
  let arguments = (ins PendingKindAttr:$kind, DistTensor:$operand, StrArrayAttr:$axes, I64Attr:$dimension);
  let assemblyFormat = "$kind $operand `over` $axes `dim` $dimension attr-dict `:` type($operand) `->` type($token)";
}

def AllToAllStartOp : DistStartOp<"all_to_all"> {
  let summary = "Moves the axes that split one dimension last to the end of another's split.";
  let description = [{
    Example:
    ```mlir
    %t = dist.all_to_all.start %x over ["t0"] from 0 to 1 : tensor<2x8xf32, #rows> -> !dist.token<tensor<4x4xf32, #columns>>
    ```

    Constraints: local types; the axes are the minor end of the split of dimension `from`, and in the result of `to`,
    several only where they divide both evenly.
  }];
  let arguments = (ins DistTensor:$operand, StrArrayAttr:$axes, I64Attr:$from, I64Attr:$to);
  let assemblyFormat = "$operand `over` $axes `from` $from `to` $to attr-dict `:` type($operand) `->` type($token)";
}

def WaitOp : DistOp<"wait", [TypesMatchWith<"the result is what the token holds", "token", "result",
    "::llvm::cast<::weft::dist::TokenType>($_self).getTensor()">]> {
  let summary = "The result of a collective that was started.";
  let description = "Example:\n```mlir\n%y = dist.wait %t : !dist.token<tensor<2x8xf32, #whole>>\n```\n\nConstraints: each token is waited for once.";
  let arguments = (ins TokenType:$token);
  let results = (outs DistTensor:$result);
  let assemblyFormat = "$token attr-dict `:` type($token)";
}

def SliceOp : DistOp<"slice", [Pure]> {
  let summary = "Each rank keeps its part of a dimension that all of them hold.";
  let description = [{
    Example:
    ```mlir
    %y = dist.slice %x over ["t0"] dim 0 : tensor<4x8xf32, #whole> -> tensor<2x8xf32, #part>
    ```

    Constraints: local types; the operand is replicated over the axes; in the result they split the dimension last (in
    zigzag, if the type of the result says so and nothing split it before), several only where they divide it evenly.
  }];
  let arguments = (ins DistTensor:$operand, StrArrayAttr:$axes, I64Attr:$dimension);
  let results = (outs DistTensor:$result);
  let assemblyFormat = "$operand `over` $axes `dim` $dimension attr-dict `:` type($operand) `->` type($result)";
  let hasVerifier = 1;
}

def KeepFirstOp : DistOp<"keep_first", [Pure]> {
  let summary = "Makes a pending sum of a replicated value: the first rank of the axes keeps it, the others have zero.";
  let description = [{
    Example:
    ```mlir
    %y = dist.keep_first %x over ["t0"] : tensor<f64, #whole> -> tensor<f64, #pending>
    ```

    Constraints: local types; the operand is replicated over the axes, the result is a pending sum over them.
  }];
  let arguments = (ins DistTensor:$operand, StrArrayAttr:$axes);
  let results = (outs DistTensor:$result);
  let assemblyFormat = "$operand `over` $axes attr-dict `:` type($operand) `->` type($result)";
  let hasVerifier = 1;
}

def MaskOp : DistOp<"mask", [Pure, AllTypesMatch<["operand", "result"]>]> {
  let summary = "Sets what lies behind a rank's valid elements of a dimension to a value.";
  let description = [{
    Before a reduction over a dimension whose parts are not all full: `value` is neutral for it.

    Example:
    ```mlir
    %y = dist.mask %x dim 1 value 0.0 : tensor<2x4xf32, #part>
    ```

    Constraints: a local type; the dimension is split.
  }];
  let arguments = (ins DistTensor:$operand, I64Attr:$dimension, F64Attr:$value);
  let results = (outs DistTensor:$result);
  let assemblyFormat = "$operand `dim` $dimension `value` $value attr-dict `:` type($result)";
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins "::mlir::Value":$operand, "int64_t":$dimension, "double":$value), [{
    build($_builder, $_state, operand.getType(), operand, $_builder.getI64IntegerAttr(dimension),
          $_builder.getF64FloatAttr(value));
  }]>];
}

def RingOp : DistOp<"ring", [AttrSizedOperandSegments, AttrSizedResultSegments, IsolatedFromAbove, SingleBlock]> {
  let summary = "A loop over the blocks that travel around a ring of ranks.";
  let description = [{
    The one op in which an axis splits two things: what `stays` on a rank, and what `travels`. The ranks along the axes,
    n of them, are a ring. A rank meets the block that it has itself in `first`; then, n - 1 times, every block goes on to
    the next rank, and `next` meets the one that came. So each rank meets every block once, and has one (while it moves,
    two) at a time (arXiv:2310.01889). `merged` values stay on the rank from step to step; `home` values travel with the
    block that they belong to, and a last move brings them home.

    In the regions a travelling value has the size of its block and is not split over the ring, as if the block that is
    here were all there is; what stays has its own type. A home value is there a sum that is pending over the ring, which
    going around takes. So every op of a region is held against its own rule, and what belongs to the block but is kept
    on the rank, or the other way round, is a type error.

    Example:
    ```mlir
    %o, %lse = dist.ring over ["c0"] stays(%q, %i : !q, !i) travels(%k, %v, %j : !k, !k, !j) merged(!q, !lse) first {
    ^bb0(%q0: !q, %i0: !i, %k0: !block, %v0: !block, %j0: !jblock):
      %o0, %lse0 = nn.attention %q0, %k0, %v0 positions(%i0, %j0) {scale = 0.5, causal} : ...
      dist.yield %o0, %lse0 : !q, !lse
    } next {
    ^bb0(%q0: !q, %i0: !i, %k0: !block, %v0: !block, %j0: !jblock, %o1: !q, %lse1: !lse):
      %o0, %lse0 = nn.attention %q0, %k0, %v0 positions(%i0, %j0) {scale = 0.5, causal} : ...
      %o2, %lse2 = nn.attention_merge %o1, %lse1, %o0, %lse0 : !q, !lse
      dist.yield %o2, %lse2 : !q, !lse
    }
    ```

    Constraints: local types. What travels, and each home value, is split over all axes of the ring in one dimension, and
    over no others there, in parts of one size; what stays is split like this or replicated over the ring; a merged value
    is split over the ring or pending over it as a sum. `first` takes what stays and what travels, `next` the merged and
    home values as well; both yield merged, then home values.
  }];
  let arguments = (ins StrArrayAttr:$axes, Variadic<DistTensor>:$stays, Variadic<DistTensor>:$travels);
  let results = (outs Variadic<DistTensor>:$merged, Variadic<DistTensor>:$home);
  let regions = (region SizedRegion<1>:$first, SizedRegion<1>:$next);
  let assemblyFormat = [{
    `over` $axes (`stays` `(` $stays^ `:` type($stays) `)`)? `travels` `(` $travels `:` type($travels) `)`
    `merged` `(` type($merged) `)` (`home` `(` type($home)^ `)`)? attr-dict-with-keyword `first` $first `next` $next
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// The axes as indices of the mesh, major to minor, and the number of ranks along them.
    ::llvm::SmallVector<int64_t, 4> axisIndices();
    int64_t ranks();
  }];
}

def RingYieldOp : DistOp<"yield", [Pure, Terminator, ParentOneOf<["RingOp"]>]> {
  let summary = "What a step of a ring hands to the next one: merged values, then home values.";
  let description = "Example:\n```mlir\ndist.yield %o, %lse : !q, !lse\n```\n\nConstraints: in a dist.ring.";
  let arguments = (ins Variadic<DistTensor>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

#endif // WEFT_DIALECTS_DIST_DISTOPS
