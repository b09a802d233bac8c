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

def Cut : Pass<"weft-cut", "::mlir::ModuleOp"> {
  let summary = "Cuts steps into stages, and writes the program of every pipeline rank";
  let description = [{
    For a mesh with the role `pipeline`, instead of `weft-schedule`. A stage begins at the `nn.boundary` of each layer of
    `first-layers`; without them `stages` are cut so that the costliest costs least. Its ops become actions: F gives what the next stage waits for, B the cotangents of all block inputs,
    W what only parameter gradients need, BW both at once, as the schedule says. Every pipeline rank gets a module of its
    own, with the parameters that it holds and a program for each step and function: its actions and their messages in the
    order of the schedule, then its part of the update. What an update, or a result, needs of all stages is exchanged as
    one sum over the pipeline. A parameter that several ranks read is on each of them, and each adds the gradients of
    all uses. Every op is there once, so no bit depends on the pipeline.

    Before (one stage's layer each; types without their encodings) and after:
    ```mlir
    microbatch { ^bb0(%x: tensor<4x8xf32>):
      %w0 = nn.read @w0 : tensor<8x8xf32>
      %a = nn.einsum "bh,gh->bg" (%x, %w0) : ...
      %b = nn.boundary 1 %a : tensor<4x8xf32>
      %w1 = nn.read @w1 : tensor<8x8xf32>
      %c = nn.einsum "bh,gh->bg" (%b, %w1) : ...
    ```
    ```mlir
    module @pipeline_rank_0 attributes {sched.pipeline_rank = 0} {
      nn.parameter @w0 : ...
      sched.program "step" microbatches(2) {
        sched.slot "stage_0/forward/0" in_flight : tensor<4x8xf32> {per_microbatch}
        sched.action "0F" per_microbatch { ... nn.einsum ... sched.store "stage_0/forward/0", %a }
        sched.action "0F.send" per_microbatch { %a = sched.load "stage_0/forward/0"  dist.send %a to 1 over ["p0"] }
        sched.action "0F.send_wait" per_microbatch { dist.send_wait to 1 over ["p0"]  sched.release "stage_0/forward/0" }
        ...
        sched.run "0F" 0  sched.run "0F.send" 0 ...
      }
    }
    module @pipeline_rank_1 attributes {sched.pipeline_rank = 1} { ... }
    ```
  }];
  let options = [
    ListOption<"firstLayers", "first-layers", "int64_t", "The layer that each stage after the first begins with">,
    Option<"stages", "stages", "int64_t", "0", "Without first-layers: so many stages, of nearly equal cost">,
    Option<"memoryLimit", "memory-limit", "double", "0.0", "Bytes of a rank that stages of nearly equal cost keep to, if they can">,
    Option<"schedule", "schedule", "std::string", "\"1f1b\"", "A schedule's name, auto, or file:PATH">,
    Option<"forwardTime", "forward-time", "double", "0.0", "Of one microbatch in a rank's stages, in any unit; 0 for all: by floating-point operations">,
    Option<"backwardInputTime", "backward-input-time", "double", "0.0", "Likewise">,
    Option<"backwardWeightTime", "backward-weight-time", "double", "0.0", "Likewise">,
    Option<"transferTime", "transfer-time", "double", "0.0", "Of a message between two ranks">,
  ];
  let dependentDialects = ["::weft::nn::NnDialect", "::weft::sched::SchedDialect", "::weft::dist::DistDialect"];
}

def VerifyMessages : Pass<"weft-verify-messages", "::mlir::ModuleOp"> {
  let summary = "Holds the programs of all pipeline ranks against each other";
  let description = [{
    What `weft-cut` ends with, for programs that were changed since. Every message has a receiver who expects its type,
    nothing is read before it has come, every send and receive is waited for, all ranks come to the collectives of the
    pipeline in one order, and ranks that wait go on. Changes nothing.
  }];
}
