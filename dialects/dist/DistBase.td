//===- DistBase.td - The dist dialect: where it lives ----------------------===//
#ifndef WEFT_DIALECTS_DIST_DISTBASE
#define WEFT_DIALECTS_DIST_DISTBASE

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/TensorEncoding.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def DistDialect : Dialect {
  let name = "dist";
  let cppNamespace = "::weft::dist";
  let summary = "Where it lives: meshes, placements, and what changes a placement.";
  let description = [{
    A tensor's placement is the encoding of its type: per dimension the mesh axes that split it, and the axes over which
    the value is a sum, a maximum or a log-sum-exp that is still to be taken ("pending"). Over every other axis it is
    replicated. Every op is held against its sharding rule, so a reduction that is missing, or taken twice, is a type
    error.

    In the global view a shape is that of the whole tensor (`#dist.at`), and `dist.reshard` alone changes a placement.
    After `partition` a shape is that of one rank's part, the encoding (`#dist.local`) still says of what, and
    collectives change placements.

    A module says its mesh as `dist.mesh`; every placement in it is on that. Seeds, which `weft-place` starts from, are
    `dist.use` and `dist.storage` of parameters and state, `dist.inputs` of a step, `dist.at` of boundaries, of attentions
    (how they take their first operand) and of a function's arguments, and `dist.zero` of the module. No other attribute named `dist.` means anything: it is refused.
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let extraClassDeclaration = [{ void registerAttributes(); }];
}

class DistAttr<string name, string attrMnemonic, list<Trait> traits = []> : AttrDef<DistDialect, name, traits> {
  let mnemonic = attrMnemonic;
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def MeshAttr : DistAttr<"Mesh", "mesh"> {
  let summary = "The ranks of a job as points of named axes, and what the axes are for.";
  let description = [{
    Rank r has the coordinates of r in the mixed radix of the sizes, the last axis fastest. Roles name lists of axes;
    one axis may have several roles.

    Example:
    ```mlir
    #mesh = #dist.mesh<d0 = 2, t0 = 2, t1 = 2 : data = [d0], tensor = [t0, t1]>
    ```

    Constraints: no axis name twice, sizes of at least 1, at most 2^31 ranks; roles name axes of the mesh.
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::StringAttr">:$names, ArrayRefParameter<"int64_t">:$sizes,
                        "::mlir::DictionaryAttr":$roles);
  let extraClassDeclaration = [{
    int64_t getRanks() const;
    /// The index of the axis of this name, or -1.
    int64_t indexOf(::llvm::StringRef name) const;
    /// The axes of a role; none if the mesh has no such role.
    ::llvm::ArrayRef<int64_t> axesOf(::llvm::StringRef role) const;
    /// The product of the axes' sizes.
    int64_t sizeOf(::llvm::ArrayRef<int64_t> axes) const;
  }];
}

def PlacementAttr : DistAttr<"Placement", "at",
    [DeclareAttrInterfaceMethods<VerifiableTensorEncoding, ["verifyEncoding"]>]> {
  let summary = "A placement in the global view: the shape of the type is the whole tensor's.";
  let description = [{
    One list per dimension: the axes that split it, major to minor. `zigzag [c0]` splits a dimension into twice as many
    chunks as ranks and gives rank i the chunks i and 2n - 1 - i, which balances causal attention; split further it stays a
    zigzag, of smaller chunks, and without its minor axes it is one of larger chunks. `sum`, `max`, `lse` and `tree` list the axes over which the value is pending: it is the sum, the maximum, log(sum(exp(.))), or again the sum
    of what the ranks along them hold. Of a `tree` the additions are fixed: the halves of the ranks, major axis first, are
    summed in the same way, and then added. No op but `nn.carry` passes one, because any other would change its bits.

    Example:
    ```mlir
    tensor<4x256x288xf32, #dist.at<#mesh, [d0], [], [], sum [t0]>>
    ```

    Constraints: one list per dimension; no axis twice; a zigzag is split, and its chunks divide the dimension evenly; the sizes of a tree's
    axes are powers of two.
  }];
  let parameters = (ins "::weft::dist::MeshAttr":$mesh, ArrayRefParameter<"int64_t">:$ends,
                        ArrayRefParameter<"int64_t">:$axes, ArrayRefParameter<"int64_t">:$zigzag,
                        ArrayRefParameter<"int64_t">:$sum, ArrayRefParameter<"int64_t">:$max,
                        ArrayRefParameter<"int64_t">:$lse, ArrayRefParameter<"int64_t">:$tree);
}

def LocalAttr : DistAttr<"Local", "local",
    [DeclareAttrInterfaceMethods<VerifiableTensorEncoding, ["verifyEncoding"]>]> {
  let summary = "A placement in the local view: the shape of the type is one rank's part.";
  let description = [{
    The whole tensor's shape, then its placement. A dimension of n elements split over axes has the part that nested
    ceiling division leaves; what lies behind a rank's valid elements is unspecified.

    Example:
    ```mlir
    tensor<2x256x144xf32, #dist.local<#mesh, 4x256x288, [d0], [], [t0]>>
    ```

    Constraints: those of the placement; each dimension of the type is what the placement leaves of the whole.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$wholeShape, "::weft::dist::PlacementAttr":$placement);
}

class DistOp<string mnemonic, list<Trait> traits = []> : Op<DistDialect, mnemonic, traits>;

def DistTensor : StaticShapeTensorOf<[I1, I32, I64, BF16, F16, F32, F64]>;

#endif // WEFT_DIALECTS_DIST_DISTBASE
