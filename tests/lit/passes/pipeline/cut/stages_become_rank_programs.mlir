// Two layers on two ranks: each has its parameter, its F and BW, and sends what the other waits for.
// RUN: weft-opt %s --weft-differentiate --weft-update=optimizer=sgd --canonicalize --cse --weft-seed-placements --weft-place --weft-partition --weft-cut=first-layers=1 | FileCheck %s

#mesh = #dist.mesh<p0 = 2 : data = [], data_replicate = [], data_shard = [], pipeline = [p0], tensor = []>
module attributes {dist.mesh = #mesh} {
nn.parameter @w0 : tensor<8x8xf32> normal {deviation = 0.1}
nn.parameter @w1 : tensor<8x8xf32> normal {deviation = 0.1}
nn.step @step microbatches(2) inputs(["x"]) attributes {objective = "loss"}
  prepare { ^bb0(%x: tensor<2x4x8xf32>): nn.yield }
  microbatch { ^bb0(%x: tensor<4x8xf32>):
    %0 = nn.boundary 0 %x : tensor<4x8xf32>
    %w0 = nn.read @w0 : tensor<8x8xf32>
    %a = nn.einsum "bh,gh->bg" (%0, %w0) : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    %1 = nn.boundary 1 %a : tensor<4x8xf32>
    %w1 = nn.read @w1 : tensor<8x8xf32>
    %b = nn.einsum "bh,gh->bg" (%1, %w1) : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    %2 = nn.boundary 2 %b : tensor<4x8xf32>
    %square = nn.multiply %2, %2 : tensor<4x8xf32>
    %loss = nn.reduce sum %square [0, 1] : tensor<4x8xf32> -> tensor<f32>
    nn.carry ["loss"] ["sum"] %loss : tensor<f32> }
  update { ^bb0(%loss: tensor<f32>): nn.yield ["loss"] %loss : tensor<f32> }
}

// CHECK-LABEL: module @pipeline_rank_0 attributes {dist.mesh = #mesh, sched.pipeline_rank = 0 : i64}
// CHECK:       nn.parameter @w0
// CHECK-NOT:   nn.parameter @w1
// CHECK:       sched.program "step" microbatches(2)
// In flight are what is sent, and what comes back; an input is read again.
// CHECK:       sched.slot "input/x" input
// CHECK-NEXT:  sched.slot "stage_0/forward/0" in_flight
// CHECK-NEXT:  sched.slot "stage_0/from_1/0" in_flight
// CHECK-NEXT:  sched.slot "carried/gradient/w0/0" carried
// CHECK:       sched.action "0F" per_microbatch
// CHECK:         nn.einsum "bh,gh->bg"
// CHECK:         sched.store "stage_0/forward/0"
// CHECK:       sched.action "0BW" per_microbatch
// CHECK:         nn.einsum
// CHECK:         sched.store "carried/gradient/w0/0"
// CHECK:       sched.action "0F.send" per_microbatch
// CHECK-NEXT:    %[[SENT:.*]] = sched.load "stage_0/forward/0"
// CHECK-NEXT:    dist.send %[[SENT]] to 1 over ["p0"]
// CHECK:       sched.action "0F.send_wait" per_microbatch
// CHECK-NEXT:    dist.send_wait to 1 over ["p0"]
// CHECK-NEXT:    sched.release "stage_0/forward/0"
// CHECK:       sched.action "0BW.receive" per_microbatch
// CHECK-NEXT:    %[[CAME:.*]] = dist.receive from 1 over ["p0"]
// CHECK-NEXT:    sched.store "stage_0/from_1/0", %[[CAME]]
// CHECK:       sched.action "0BW.receive_wait" per_microbatch
// CHECK-NEXT:    dist.receive_wait from 1 over ["p0"]
// CHECK:       sched.run "0F" 0
// CHECK-NEXT:  sched.run "0F.send" 0
// CHECK:       sched.run "0BW.receive_wait" 0
// CHECK-NEXT:  sched.run "0BW" 0

// CHECK-LABEL: module @pipeline_rank_1
// CHECK-NOT:   nn.parameter @w0
// CHECK:       nn.parameter @w1
// The loss is the last stage's, and no input comes here.
// CHECK-NOT:   sched.slot "input/x"
// CHECK:       sched.slot "stage_1/from_0/0" in_flight
// CHECK:       sched.slot "carried/loss" carried
// CHECK:       sched.action "1F" per_microbatch
// CHECK:       sched.action "1BW" per_microbatch
// CHECK:       sched.action "1F.receive" per_microbatch
// A receive begins as soon as it can be met.
// CHECK:       sched.run "1F.receive" 0
// CHECK-NEXT:  sched.run "1F.receive" 1
// CHECK-NEXT:  sched.run "1F.receive_wait" 0
// CHECK-NEXT:  sched.run "1F" 0
// CHECK:       sched.run "1BW" 0
// CHECK-NEXT:  sched.run "1BW.send" 0
