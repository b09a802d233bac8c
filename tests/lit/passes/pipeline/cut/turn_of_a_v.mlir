// Where a V turns, two stages are on one rank: the later one reads the slot of the earlier one, and nothing is sent.
// RUN: weft-opt %s --weft-differentiate --weft-update=optimizer=sgd --canonicalize --cse --weft-seed-placements --weft-place --weft-partition --weft-cut="first-layers=1,2,3 schedule=zb_v" | FileCheck %s

#mesh = #dist.mesh<p0 = 2 : data = [], data_replicate = [], data_shard = [], pipeline = [p0], tensor = []>
module attributes {dist.mesh = #mesh} {
nn.parameter @w0 : tensor<8x8xf32> normal {deviation = 0.1}
nn.parameter @w1 : tensor<8x8xf32> normal {deviation = 0.1}
nn.parameter @w2 : tensor<8x8xf32> normal {deviation = 0.1}
nn.parameter @w3 : tensor<8x8xf32> normal {deviation = 0.1}
nn.step @step microbatches(4) inputs(["x"]) attributes {objective = "loss"}
  prepare { ^bb0(%x: tensor<4x4x8xf32>): nn.yield }
  microbatch { ^bb0(%x: tensor<4x8xf32>):
    %0 = nn.boundary 0 %x : tensor<4x8xf32>
    %r0 = nn.read @w0 : tensor<8x8xf32>
    %a = nn.einsum "bh,gh->bg" (%0, %r0) : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    %1 = nn.boundary 1 %a : tensor<4x8xf32>
    %r1 = nn.read @w1 : tensor<8x8xf32>
    %b = nn.einsum "bh,gh->bg" (%1, %r1) : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    %2 = nn.boundary 2 %b : tensor<4x8xf32>
    %r2 = nn.read @w2 : tensor<8x8xf32>
    %c = nn.einsum "bh,gh->bg" (%2, %r2) : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    %3 = nn.boundary 3 %c : tensor<4x8xf32>
    %r3 = nn.read @w3 : tensor<8x8xf32>
    %d = nn.einsum "bh,gh->bg" (%3, %r3) : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    %last = nn.boundary 4 %d : tensor<4x8xf32>
    %square = nn.multiply %last, %last : tensor<4x8xf32>
    %loss = nn.reduce sum %square [0, 1] : tensor<4x8xf32> -> tensor<f32>
    nn.carry ["loss"] ["sum"] %loss : tensor<f32> }
  update { ^bb0(%loss: tensor<f32>): nn.yield ["loss"] %loss : tensor<f32> }
}

// CHECK-LABEL: module @pipeline_rank_1
// CHECK:       sched.action "1F" per_microbatch
// CHECK:         sched.store "stage_1/forward/[[TURN:[0-9]+]]"
// CHECK:       sched.action "2F" per_microbatch
// CHECK:         sched.load "stage_1/forward/[[TURN]]"
// CHECK-NOT:   sched.action "1F.send"
// CHECK-NOT:   sched.action "2F.receive"
// CHECK:       sched.action "1F.receive"
// CHECK:       sched.action "2F.send"
