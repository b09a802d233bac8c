include "mlir/Pass/PassBase.td"

def Schedule : Pass<"weft-schedule", "::mlir::ModuleOp"> {
  let summary = "Turns steps and functions into programs of scheduled actions";
  let description = [{
    One device has the trivial schedule: an `nn.step` becomes prepare, forward and backward as one action per
    microbatch, update; a function becomes one action. What crosses from one action to another gets a slot. A carried
    value accumulates in its slot in ascending microbatch order: the slot starts at the combiner's neutral element in
    prepare; with one microbatch it is stored directly. What is carried by `tree` goes through a binary counter: behind the
    microbatch runs `fold_N`, which joins it with the N subtrees that wait for it (passes/pipeline/TreeFolds.h), so of 4
    microbatches `fold_0`, `fold_1`, `fold_0`, `fold_2`.

    Before and after:
    ```mlir
    nn.step @step microbatches(2) inputs(["x"])
      prepare { ^bb0(%x: tensor<2x4xf32>): nn.yield }
      microbatch { ^bb0(%x: tensor<4xf32>):
        %l = nn.reduce sum %x [0] : tensor<4xf32> -> tensor<f32>
        nn.carry ["loss"] ["sum"] %l : tensor<f32> }
      update { ^bb0(%l: tensor<f32>): nn.yield ["loss"] %l : tensor<f32> }
    ```
    ```mlir
    sched.program "step" microbatches(2) {
      sched.slot "input/x" input : tensor<4xf32> {per_microbatch}
      sched.slot "carried/loss" carried : tensor<f32>
      sched.slot "output/loss" output : tensor<f32>
      sched.action "prepare" { ... store 0 in "carried/loss" }
      sched.action "forward_backward" per_microbatch { ... add to "carried/loss" }
      sched.action "update" { ... }
      sched.run "prepare"  sched.run "forward_backward" 0  sched.run "forward_backward" 1  sched.run "update"
    }
    ```
  }];
  let dependentDialects = ["::weft::nn::NnDialect", "::weft::sched::SchedDialect"];
}
