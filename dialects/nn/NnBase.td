//===- NnBase.td - The nn dialect: what to compute ------------------------===//
#ifndef WEFT_DIALECTS_NN_NNBASE
#define WEFT_DIALECTS_NN_NNBASE

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "dialects/nn/NnInterfaces.td"

def NnDialect : Dialect {
  let name = "nn";
  let cppNamespace = "::weft::nn";
  let summary = "What to compute: the training program in the global view.";
  let description = [{
    Value-semantic operations on ranked tensors with static, global shapes, as if one infinite device ran the program.
    Every declared type is what a value is rounded to. Primitives have a meaning of their own (`kernels/reference`);
    composites have a decomposition into primitives, which defines their meaning.
  }];
  let hasConstantMaterializer = 1;
  let dependentDialects = ["::weft::dist::DistDialect"];
  // Each family of ops registers itself, in the file where it lives.
  let extraClassDeclaration = [{
    void registerActivationOps();
    void registerAttentionOps();
    void registerContractionOps();
    void registerElementwiseOps();
    void registerIndexingOps();
    void registerLossOps();
    void registerNormOps();
    void registerOptimizerOps();
    void registerProgramOps();
    void registerShapeOps();
  }];
}

class NnOp<string mnemonic, list<Trait> traits = []> : Op<NnDialect, mnemonic, traits>;

// Tensor types of the dialect: ranked, static, of the element types that kernels know, and of a size that a machine can
// address, so that no product of sizes overflows.
def NnElementType : AnyTypeOf<[I1, I32, I64, BF16, F16, F32, F64]>;
def NnFloatElementType : AnyTypeOf<[BF16, F16, F32, F64]>;
def NnIntegerElementType : AnyTypeOf<[I32, I64]>;

class NnTensorOf<list<Type> elements> : ConfinedType<StaticShapeTensorOf<elements>,
    [CPred<"::weft::nn::isAddressable(::llvm::cast<::mlir::RankedTensorType>($_self))">],
    StaticShapeTensorOf<elements>.summary # ", at most 16 dimensions and 2^48 bytes">;

def NnTensor : NnTensorOf<[NnElementType]>;
def NnFloatTensor : NnTensorOf<[NnFloatElementType]>;
def NnIntegerTensor : NnTensorOf<[NnIntegerElementType]>;
def NnF32Tensor : NnTensorOf<[F32]>;
def NnF64Tensor : NnTensorOf<[F64]>;
def NnBoolTensor : NnTensorOf<[I1]>;
def NnI32Tensor : NnTensorOf<[I32]>;
def NnI64Tensor : NnTensorOf<[I64]>;

// The interfaces that nearly every compute op implements, in the file where it lives.
defvar NnDifferentiable = DeclareOpInterfaceMethods<DifferentiableOpInterface>;
defvar NnShardable = DeclareOpInterfaceMethods<ShardingRuleOpInterface>;
defvar NnCosted = DeclareOpInterfaceMethods<CostOpInterface>;
defvar NnMergeable = DeclareOpInterfaceMethods<MergeableReductionOpInterface>;
defvar NnDecomposable = DeclareOpInterfaceMethods<DecomposableOpInterface>;

#endif // WEFT_DIALECTS_NN_NNBASE
