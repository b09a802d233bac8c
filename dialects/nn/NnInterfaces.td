//===- NnInterfaces.td - The questions that passes ask of an op -----------===//
#ifndef WEFT_DIALECTS_NN_NNINTERFACES
#define WEFT_DIALECTS_NN_NNINTERFACES

include "mlir/IR/OpBase.td"

def DifferentiableOpInterface : OpInterface<"DifferentiableOpInterface"> {
  let cppNamespace = "::weft::nn";
  let description = [{
    An op whose vector-Jacobian product is known as nn ops. `differentiate` reads nothing else.
  }];
  let methods = [
    InterfaceMethod<[{
        Builds the cotangents of the operands from those of the results. `cotangents[i]` is null where result i has
        none. Sets `operandCotangents[i]` for every operand that `context.needsCotangent(i)` names, in the type
        `context.cotangentType(i)`; a null entry means zero.
      }],
      "void", "buildVjp",
      (ins "::weft::nn::VjpContext &":$context, "::llvm::ArrayRef<::mlir::Value>":$cotangents,
           "::llvm::MutableArrayRef<::mlir::Value>":$operandCotangents)>
  ];
}

def ShardingRuleOpInterface : OpInterface<"ShardingRuleOpInterface"> {
  let cppNamespace = "::weft::nn";
  let description = [{
    How an op may be split, as factors in the sense of einsum letters. Placement and partitioning read nothing else.
    The placements of an op's operands and results are held against it.
  }];
  let verify = [{ return ::weft::nn::verifyPlacements($_op); }];
  let verifyWithRegions = 1;
  let methods = [
    InterfaceMethod<"The rule of this op, from its types and attributes.",
      "::weft::nn::ShardingRule", "shardingRule">
  ];
}

def CostOpInterface : OpInterface<"CostOpInterface"> {
  let cppNamespace = "::weft::nn";
  let description = [{ What an op costs when it runs alone, from its types and attributes. }];
  let methods = [
    InterfaceMethod<"Floating-point operations; a multiply-add is two.", "int64_t", "flops">,
    InterfaceMethod<"Bytes read and written, each operand and result once.", "int64_t", "bytes", (ins), "",
      [{ return ::weft::nn::operandAndResultBytes($_op); }]>
  ];
}

def DecomposableOpInterface : OpInterface<"DecomposableOpInterface"> {
  let cppNamespace = "::weft::nn";
  let description = [{
    A composite: its decomposition into primitives (or simpler composites) defines its meaning.
  }];
  let methods = [
    InterfaceMethod<"Builds the decomposition at the builder's insertion point; one value per result.",
      "::llvm::SmallVector<::mlir::Value>", "decompose", (ins "::mlir::OpBuilder &":$builder)>
  ];
}

def MergeableReductionOpInterface : OpInterface<"MergeableReductionOpInterface"> {
  let cppNamespace = "::weft::nn";
  let description = [{
    An op whose reduction over one factor is neither a sum nor a maximum, so its rule keeps that factor whole. It can be
    written as partial statistics, over whose factor pending reductions exist, and a finish of element-wise ops.
  }];
  let methods = [
    InterfaceMethod<"The factor of the op's rule that `expand` makes splittable; none in an op that is expanded.",
      "::std::optional<int>", "mergeableFactor">,
    InterfaceMethod<"Builds statistics and finish at the builder's insertion point; one value per result.",
      "::llvm::SmallVector<::mlir::Value>", "expand", (ins "::mlir::OpBuilder &":$builder)>
  ];
}

#endif // WEFT_DIALECTS_NN_NNINTERFACES
