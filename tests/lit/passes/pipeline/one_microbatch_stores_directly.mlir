// With one microbatch nothing accumulates: a carried value is stored as it is.
// RUN: weft-opt %s --weft-schedule | FileCheck %s

// CHECK:      sched.action "prepare" {
// CHECK-NEXT: }
// CHECK-NEXT: sched.action "forward_backward" per_microbatch {
// CHECK-NEXT: %[[X:.*]] = sched.load "input/x" : tensor<4xf32>
// CHECK-NEXT: %[[L:.*]] = nn.reduce sum %[[X]]
// CHECK-NEXT: sched.store "carried/loss", %[[L]]
nn.step @train microbatches(1) inputs(["x"])
  prepare { ^bb0(%x: tensor<1x4xf32>): nn.yield }
  microbatch { ^bb0(%x: tensor<4xf32>):
    %l = nn.reduce sum %x [0] : tensor<4xf32> -> tensor<f32>
    nn.carry ["loss"] ["sum"] %l : tensor<f32> }
  update { ^bb0(%l: tensor<f32>): nn.yield ["loss"] %l : tensor<f32> }
