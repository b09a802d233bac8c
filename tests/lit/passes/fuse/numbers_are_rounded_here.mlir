// A number that its type does not hold is a float64 constant and a cast until it becomes an immediate: it is rounded to bf16 once,
// and no cast is computed. What a type does hold was a constant of it from the start.
// RUN: weft-opt %s --weft-differentiate | FileCheck %s --check-prefix=BEFORE
// RUN: weft-opt %s --weft-differentiate --weft-schedule --weft-fuse | FileCheck %s

nn.parameter @w : tensor<4x8xbf16> constant

// BEFORE-DAG: %[[CUBIC:.*]] = nn.constant dense<4.471500e-02> : tensor<4x8xf64>
// BEFORE-DAG: nn.cast %[[CUBIC]] : tensor<4x8xf64> -> tensor<4x8xbf16>
// BEFORE-DAG: nn.constant dense<5.000000e-01> : tensor<4x8xbf16>
// CHECK-NOT:  xf64
// CHECK:      sched.launch "elementwise"
// CHECK-SAME:   constants = array<f64: 0.044677734375, 7.968750e-01,
// CHECK-NOT:  xf64
nn.step @train microbatches(1) inputs(["x"]) attributes {objective = "loss"}
  prepare { ^bb0(%x: tensor<1x4x8xbf16>): nn.yield }
  microbatch { ^bb0(%x: tensor<4x8xbf16>):
    %w = nn.read @w : tensor<4x8xbf16>
    %y = nn.activation gelu_tanh %w : tensor<4x8xbf16>
    %p = nn.multiply %y, %x : tensor<4x8xbf16>
    %loss = nn.reduce sum %p [0, 1] : tensor<4x8xbf16> -> tensor<f32>
    nn.carry ["loss"] ["sum"] %loss : tensor<f32> }
  update { ^bb0(%loss: tensor<f32>): nn.yield ["loss"] %loss : tensor<f32> }
