include "mlir/Pass/PassBase.td"

def Fuse : Pass<"weft-fuse", "::mlir::ModuleOp"> {
  let summary = "Turns the nn ops of actions into launches of kernels";
  let description = [{
    A composite that the CPU has a kernel for becomes one launch; any other is replaced by its decomposition. The loss
    head's forward and backward become one pass over the logits where the cotangent allows. Regions of element-wise,
    broadcast, select, compare and cast ops of one shape become one `elementwise` launch, with reductions of the last
    dimension and what is made of them. A norm becomes part of a region; where its backward reads its statistics it is a
    region by itself, so that it can be computed again from its input alone. No bit changes: a fused region rounds exactly
    where its ops do, and reduces in the order of the `reduce` kernel. A cast of a float splat is a constant of its type. What became of each composite is
    recorded in the module attribute `weft.composites`, and in `weft.apart` why element-wise ops did not join the region that
    computes one of their operands, and how often.

    Before and after:
    ```mlir
    %s = nn.add %a, %b : tensor<8xf32>
    %t = nn.tanh %s : tensor<8xf32>
    ```
    ```mlir
    %t = sched.launch "elementwise"(%a, %b) {settings = {program = array<i64: ...>, ...}}
      : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    ```
  }];
  let dependentDialects = ["::weft::nn::NnDialect", "::weft::sched::SchedDialect"];
  let options = [
    Option<"staged", "staged", "bool", "false", "collectives say for how many ranks they need memory for what other processes send">,
    Option<"regions", "regions", "bool", "true", "element-wise ops of one shape become one launch; false: each one of its own">,
    Option<"generated", "generated", "bool", "true", "regions will be generated: a norm whose kernel they outrun becomes one">
  ];
}

def Rematerialize : Pass<"weft-rematerialize", "::mlir::ModuleOp"> {
  let summary = "Computes cheap values again where they are read next";
  let description = [{
    In each action: a result of `elementwise`, `rms_norm` or `layer_norm` that lives across the place where the most bytes of
    results live, and is not read there, is computed a second time before it is read next, if its operands live until there
    anyway. The largest first, until none is left at the peak. No bit changes. The module attribute `weft.rematerialized` holds
    how many launches were added and by how many bytes the peak of one action fell, at most.

    Before and after, where `big` is the peak and %x is read behind it:
    ```mlir
    %y = sched.launch "rms_norm"(%x, %w) ...
    %a = sched.launch "einsum"(%y, %v) ...
    ... big ...
    %b = sched.launch "einsum"(%y, %d) ...
    ```
    ```mlir
    %y = sched.launch "rms_norm"(%x, %w) ...
    %a = sched.launch "einsum"(%y, %v) ...
    ... big ...
    %z = sched.launch "rms_norm"(%x, %w) ...
    %b = sched.launch "einsum"(%z, %d) ...
    ```
  }];
}
