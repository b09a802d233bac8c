//===- SchedOps.td - The sched dialect: when it happens ---------------------===//
#ifndef WEFT_DIALECTS_SCHED_SCHEDOPS
#define WEFT_DIALECTS_SCHED_SCHEDOPS

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def SchedDialect : Dialect {
  let name = "sched";
  let cppNamespace = "::weft::sched";
  let summary = "When it happens: actions, their order, commands, and where values live.";
  let description = [{
    A program is a list of actions and the order in which they run, once or once per microbatch. Values that outlive
    an action are in named slots; inside an action values are SSA. `fuse` turns nn ops into launches of kernels,
    `memory` gives every value a place, `emit` writes the commands down. One device has the trivial schedule: prepare,
    forward and backward as one action per microbatch, update.
  }];
  let useDefaultAttributePrinterParser = 1;
}

class SchedOp<string mnemonic, list<Trait> traits = []> : Op<SchedDialect, mnemonic, traits>;
class SchedAttr<string name, string attrMnemonic> : AttrDef<SchedDialect, name> { let mnemonic = attrMnemonic; }

// Of a size that a machine can address, so that no offset overflows.
def SchedTensor : ConfinedType<StaticShapeTensorOf<[I1, I32, I64, BF16, F16, F32, F64]>,
    [CPred<"::weft::nn::isAddressable(::llvm::cast<::mlir::RankedTensorType>($_self))">],
    StaticShapeTensorOf<[I1, I32, I64, BF16, F16, F32, F64]>.summary # ", at most 16 dimensions and 2^48 bytes">;

def PlaceAttr : SchedAttr<"Place", "place"> {
  let summary = "Where a value lives: a base and an offset in bytes.";
  let parameters = (ins "::mlir::StringAttr":$base, "int64_t":$offset);
  let assemblyFormat = "`<` $base `,` $offset `>`";
}
def PlaceArrayAttr : TypedArrayAttrBase<PlaceAttr, "places">;

def SlotKindAttr : I32EnumAttr<"SlotKind", "what a slot is for", [
    I32EnumAttrCase<"input", 0>, I32EnumAttrCase<"prepared", 1>, I32EnumAttrCase<"carried", 2>,
    I32EnumAttrCase<"output", 3>, I32EnumAttrCase<"level", 4>, I32EnumAttrCase<"in_flight", 5>]> {
  let cppNamespace = "::weft::sched";
}

def BaseKindAttr : I32EnumAttr<"BaseKind", "how long a base's contents live", [
    I32EnumAttrCase<"constants", 0>, I32EnumAttrCase<"parameters", 1>, I32EnumAttrCase<"inputs", 2>,
    I32EnumAttrCase<"step", 3>, I32EnumAttrCase<"slots", 4>]> {
  let cppNamespace = "::weft::sched";
}

def ProgramOp : SchedOp<"program", [SingleBlock, NoTerminator, IsolatedFromAbove]> {
  let summary = "A program: slots, actions, and the order in which actions run.";
  let description = [{
    Example:
    ```mlir
    sched.program "step" microbatches(2) {
      sched.slot "tokens" input : tensor<4x8xi32> {per_microbatch}
      sched.action "forward_backward" per_microbatch { ... }
      sched.run "forward_backward" 0
      sched.run "forward_backward" 1
    }
    ```

    Constraints: at least one microbatch; holds slots, actions and runs only, and no block arguments; names of slots and
    of actions are unique; a run names an action, with a microbatch below `microbatches` exactly if the action is per
    microbatch, in ascending order, each once; an action stores to a slot once. What is in flight is stored by some action, and
    loaded, stored and released by actions per microbatch only, for their own microbatch; a run that loads or releases it
    comes after one that stored it.
  }];
  let arguments = (ins StrAttr:$name, I64Attr:$microbatches);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$name `microbatches` `(` $microbatches `)` attr-dict-with-keyword $body";
  let hasRegionVerifier = 1;
}

def SlotOp : SchedOp<"slot", [HasParent<"ProgramOp">]> {
  let summary = "A named value that outlives an action.";
  let description = [{
    Inputs are written by the host, one value per microbatch or one for the whole run. A `level` keeps a subtree of a
    carried value until its neighbor is there. What is `in_flight` has a value per microbatch, from the action that stores
    it to the last one that loads or releases it, and as many places as the order of runs asks for. `place` is set by
    `memory`.

    Example:
    ```mlir
    sched.slot "gradient/w/0" carried : tensor<4x8xf32>
    ```

    Constraints: a static ranked tensor type of at most 2^48 bytes; what is in flight is per microbatch, and otherwise only
    inputs are.
  }];
  let arguments = (ins StrAttr:$name, SlotKindAttr:$kind, TypeAttr:$type, UnitAttr:$per_microbatch,
                       OptionalAttr<PlaceAttr>:$place);
  let assemblyFormat = "$name $kind `:` $type attr-dict";
  let hasVerifier = 1;
}

def ActionOp : SchedOp<"action", [HasParent<"ProgramOp">, SingleBlock, NoTerminator, IsolatedFromAbove]> {
  let summary = "What runs as one unit of the schedule.";
  let description = [{
    Example:
    ```mlir
    sched.action "update" { ... }
    ```

    Constraints: one block without arguments; it sees nothing from outside but slots and variables.
  }];
  let arguments = (ins StrAttr:$name, UnitAttr:$per_microbatch);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$name (`per_microbatch` $per_microbatch^)? attr-dict-with-keyword $body";
}

def RunOp : SchedOp<"run", [HasParent<"ProgramOp">]> {
  let summary = "Runs an action, for one microbatch if it is per microbatch.";
  let description = "Example:\n```mlir\nsched.run \"forward_backward\" 1\n```\n\nConstraints: checked by the program.";
  let arguments = (ins StrAttr:$action, OptionalAttr<I64Attr>:$microbatch);
  let assemblyFormat = "$action ($microbatch^)? attr-dict";
}

def LoadOp : SchedOp<"load", [MemoryEffects<[MemRead]>]> {
  let summary = "The value of a slot when the action begins.";
  let description = [{
    In an action that is not per microbatch, an input that is per microbatch is read at `microbatch`.

    Example:
    ```mlir
    %t = sched.load "tokens" : tensor<4x8xi32>
    ```

    Constraints: a slot of this name and type; `microbatch` exactly if the slot is per microbatch and the action is not,
    below the program's number of microbatches.
  }];
  let arguments = (ins StrAttr:$slot, OptionalAttr<I64Attr>:$microbatch);
  let results = (outs SchedTensor:$result);
  let assemblyFormat = "$slot (`microbatch` $microbatch^)? attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def StoreOp : SchedOp<"store", [MemoryEffects<[MemWrite]>]> {
  let summary = "Gives a slot its value, when the action ends.";
  let description = [{
    Example:
    ```mlir
    sched.store "loss_sum", %l : tensor<f32>
    ```

    Constraints: a slot of this name and type that is not an input; one store per slot and action.
  }];
  let arguments = (ins StrAttr:$slot, SchedTensor:$value);
  let assemblyFormat = "$slot `,` $value attr-dict `:` type($value)";
  let hasVerifier = 1;
}

def ReleaseOp : SchedOp<"release", [MemoryEffects<[MemWrite]>]> {
  let summary = "The value that a slot has in flight is needed until this action.";
  let description = [{
    Where nothing loads it at the end: a message is sent from a slot that must stay until it has arrived.

    Example:
    ```mlir
    sched.release "stage_0/output/0"
    ```

    Constraints: a slot that is in flight, in an action that is per microbatch.
  }];
  let arguments = (ins StrAttr:$slot);
  let assemblyFormat = "$slot attr-dict";
  let hasVerifier = 1;
}

def SchedDenseElements : ConfinedAttr<ElementsAttr,
    [AttrConstraint<CPred<"::llvm::isa<::mlir::DenseElementsAttr>($_self)">, "dense">]>;

def ConstantOp : SchedOp<"constant", [Pure, AllTypesMatch<["value", "result"]>]> {
  let summary = "A value that the executable holds.";
  let description = "Example:\n```mlir\n%c = sched.constant dense<[1.0, 2.0]> : tensor<2xf32>\n```\n\nConstraints: dense elements of the result's type.";
  let arguments = (ins SchedDenseElements:$value, OptionalAttr<PlaceAttr>:$place);
  let results = (outs SchedTensor:$result);
  let assemblyFormat = "$value attr-dict";
}

def ViewOp : SchedOp<"view", [Pure]> {
  let summary = "The same bytes under another shape.";
  let description = "Example:\n```mlir\n%v = sched.view %x : tensor<4x6xf32> -> tensor<24xf32>\n```\n\nConstraints: same element type, same number of elements.";
  let arguments = (ins SchedTensor:$operand);
  let results = (outs SchedTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($result)";
  let hasVerifier = 1;
}

def LaunchOp : SchedOp<"launch"> {
  let summary = "Launches a kernel.";
  let description = [{
    `kernel` and `settings` are the name and attributes of docs/kernels.md: integers as an array of i64, numbers as an array of f64,
    texts as strings. `memory` sets the places of the results and of the workspace.

    Example:
    ```mlir
    %c = sched.launch "einsum"(%a, %b) {settings = {equation = "mk,kn->mn"}}
      : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
    ```

    Constraints: settings are of those three forms; one place per result, if any.
  }];
  let arguments = (ins StrAttr:$kernel, Variadic<SchedTensor>:$inputs, DictionaryAttr:$settings,
                       OptionalAttr<PlaceArrayAttr>:$places, OptionalAttr<PlaceAttr>:$workspace,
                       DefaultValuedAttr<I64Attr, "0">:$workspace_bytes);
  let results = (outs Variadic<SchedTensor>:$outputs);
  let assemblyFormat = "$kernel `(` $inputs `)` attr-dict `:` functional-type($inputs, $outputs)";
  let hasVerifier = 1;
}

def CopyOp : SchedOp<"copy"> {
  let summary = "Copies a value into the place of a slot or variable, at the end of an action.";
  let description = [{
    Written by `memory` where a stored value could not be computed in place.

    Example:
    ```mlir
    sched.copy %x <"step", 128> : tensor<4xf32>
    ```

    Constraints: none.
  }];
  let arguments = (ins SchedTensor:$value, PlaceAttr:$place);
  let assemblyFormat = "$value $place attr-dict `:` type($value)";
}

def BaseOp : SchedOp<"base"> {
  let summary = "A piece of the arena.";
  let description = [{
    Written by `memory`: `slots` pieces of `bytes` each; microbatch m uses piece m mod slots. A base `within` another
    takes no room of its own: piece m is at offset m of the list `at`, in the other, where pieces of other bases are at
    other times.

    Example:
    ```mlir
    sched.base "step" step slots(1) bytes(4096)
    sched.base "in_flight" slots slots(1) bytes(256)
    sched.base "step/in_flight/0F-0B" slots slots(3) bytes(128) within "in_flight" at [0, 128, 0]
    ```

    Constraints: at least one slot; sizes are multiples of 64 bytes; all slots together have at most 2^48 bytes; within
    another base one offset per slot, each a multiple of 64.
  }];
  let arguments = (ins StrAttr:$name, BaseKindAttr:$kind, I64Attr:$slots, I64Attr:$bytes,
                       OptionalAttr<StrAttr>:$within, OptionalAttr<DenseI64ArrayAttr>:$offsets);
  let assemblyFormat = "$name $kind `slots` `(` $slots `)` `bytes` `(` $bytes `)` (`within` $within^ `at` $offsets)? attr-dict";
  let hasVerifier = 1;
}

#endif // WEFT_DIALECTS_SCHED_SCHEDOPS
