// What an update needs of all stages (each parameter's part of the norm, the loss) is one sum over the pipeline for each
// element type: a rank gives its own, and -0.0 for what others give. Everything else is computed where the parameter is.
// RUN: weft-opt %s --weft-differentiate --weft-update=optimizer=sgd --canonicalize --cse --weft-seed-placements --weft-place --weft-partition --weft-cut=first-layers=1 | FileCheck %s

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

// CHECK-LABEL: module @pipeline_rank_0
// CHECK:       sched.action "update.local" {
// CHECK:         nn.squared_norm
// CHECK-NOT:     nn.squared_norm
// CHECK:       sched.action "update.exchange" {
// CHECK:         nn.constant dense<-0.000000e+00>
// CHECK:         %[[TERM:.*]] = dist.term %{{.*}} over ["p0"]
// CHECK:         dist.all_reduce.start sum %[[TERM]] over ["p0"]
// CHECK:         dist.term
// CHECK:         dist.all_reduce.start
// CHECK-NOT:     dist.all_reduce.start
// CHECK:       sched.action "update" {
// CHECK:         nn.write @w0
// CHECK-NOT:     nn.write @w1
// CHECK-LABEL: module @pipeline_rank_1
