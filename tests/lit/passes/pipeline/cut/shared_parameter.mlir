// A parameter that the first and the last stage read is on both ranks. Each use has its sum of gradients where it is; before
// the update each rank tells the other its own, and both add them in one order.
// RUN: weft-opt %s --weft-differentiate --weft-update=optimizer=sgd --canonicalize --cse --weft-seed-placements --weft-place --weft-partition --weft-cut=first-layers=1 | FileCheck %s

#mesh = #dist.mesh<p0 = 2 : data = [], data_replicate = [], data_shard = [], pipeline = [p0], tensor = []>
module attributes {dist.mesh = #mesh} {
nn.parameter @w : tensor<8x8xf32> normal {deviation = 0.1}
nn.step @step microbatches(2) inputs(["x"]) attributes {objective = "loss"}
  prepare { ^bb0(%x: tensor<2x4x8xf32>): nn.yield }
  microbatch { ^bb0(%x: tensor<4x8xf32>):
    %0 = nn.boundary 0 %x : tensor<4x8xf32>
    %r0 = nn.read @w : tensor<8x8xf32>
    %a = nn.einsum "bh,gh->bg" (%0, %r0) : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    %1 = nn.boundary 1 %a : tensor<4x8xf32>
    %r1 = nn.read @w : tensor<8x8xf32>
    %b = nn.einsum "bh,gh->bg" (%1, %r1) : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    %last = nn.boundary 2 %b : tensor<4x8xf32>
    %square = nn.multiply %last, %last : tensor<4x8xf32>
    %loss = nn.reduce sum %square [0, 1] : tensor<4x8xf32> -> tensor<f32>
    nn.carry ["loss"] ["sum"] %loss : tensor<f32> }
  update { ^bb0(%loss: tensor<f32>): nn.yield ["loss"] %loss : tensor<f32> }
}

// CHECK-LABEL: module @pipeline_rank_0
// CHECK:       nn.parameter @w
// CHECK:       sched.slot "carried/gradient/w/0" carried
// CHECK-NEXT:  sched.slot "carried/gradient/w/1" carried
// CHECK:       sched.action "gradients.send"
// CHECK-NEXT:    %[[FIRST:.*]] = sched.load "carried/gradient/w/0"
// CHECK-NEXT:    dist.send %[[FIRST]] to 1
// CHECK:       sched.action "gradients.receive"
// CHECK-NEXT:    %[[SECOND:.*]] = dist.receive from 1
// CHECK-NEXT:    sched.store "carried/gradient/w/1", %[[SECOND]]
// CHECK:       sched.run "gradients.send"
// CHECK-NEXT:  sched.run "gradients.receive"
// CHECK-NEXT:  sched.run "gradients.receive_wait"
// CHECK-NEXT:  sched.run "gradients.send_wait"

// CHECK-LABEL: module @pipeline_rank_1
// CHECK:       nn.parameter @w
// CHECK:       sched.action "gradients.send"
// CHECK-NEXT:    sched.load "carried/gradient/w/1"
// CHECK:       sched.action "gradients.receive"
// CHECK:         sched.store "carried/gradient/w/0"
