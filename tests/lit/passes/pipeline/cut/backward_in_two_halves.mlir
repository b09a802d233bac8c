// With ZB-H1 a stage's backward is two actions: B gives the cotangent of its input, W the gradient of its weight, for
// which B leaves it what it was given.
// RUN: weft-opt %s --weft-differentiate --weft-update=optimizer=sgd --canonicalize --cse --weft-seed-placements --weft-place --weft-partition --weft-cut="first-layers=1 schedule=zb_h1" | FileCheck %s

#mesh = #dist.mesh<p0 = 2 : data = [], data_replicate = [], data_shard = [], pipeline = [p0], tensor = []>
module attributes {dist.mesh = #mesh} {
nn.parameter @w0 : tensor<8x8xf32> normal {deviation = 0.1}
nn.parameter @w1 : tensor<8x8xf32> normal {deviation = 0.1}
nn.step @step microbatches(2) inputs(["x"]) attributes {objective = "loss"}
  prepare { ^bb0(%x: tensor<2x4x8xf32>): nn.yield }
  microbatch { ^bb0(%x: tensor<4x8xf32>):
    %0 = nn.boundary 0 %x : tensor<4x8xf32>
    %r0 = nn.read @w0 : tensor<8x8xf32>
    %a = nn.einsum "bh,gh->bg" (%0, %r0) : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    %1 = nn.boundary 1 %a : tensor<4x8xf32>
    %r1 = nn.read @w1 : tensor<8x8xf32>
    %b = nn.einsum "bh,gh->bg" (%1, %r1) : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    %last = nn.boundary 2 %b : tensor<4x8xf32>
    %square = nn.multiply %last, %last : tensor<4x8xf32>
    %loss = nn.reduce sum %square [0, 1] : tensor<4x8xf32> -> tensor<f32>
    nn.carry ["loss"] ["sum"] %loss : tensor<f32> }
  update { ^bb0(%loss: tensor<f32>): nn.yield ["loss"] %loss : tensor<f32> }
}

// CHECK-LABEL: module @pipeline_rank_1
// CHECK:       sched.action "1B" per_microbatch
// The one product of B takes the weight, that of W takes the layer's input.
// CHECK-NOT:     sched.load "stage_1/from_0/0"
// CHECK:         nn.read @w1
// CHECK:         nn.einsum
// CHECK:         sched.store "stage_1/backward_input/[[COTANGENT:[0-9]+]]"
// CHECK:       sched.action "1W" per_microbatch
// CHECK-NOT:     nn.read
// CHECK:         sched.load "stage_1/backward_input/[[COTANGENT]]"
// CHECK:         nn.einsum
// CHECK:         sched.store "carried/gradient/w1/0"
// Only B gives something to the stage before.
// CHECK:       sched.action "1B.send" per_microbatch
// CHECK-NOT:   sched.action "1W.send"
