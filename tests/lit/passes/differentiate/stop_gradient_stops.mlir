// No cotangent passes a stop_gradient: the op without a derivative behind it is never asked.
// RUN: weft-opt %s --weft-differentiate | FileCheck %s

nn.parameter @w : tensor<4xf32> constant

// CHECK:      %[[W:.*]] = nn.read @w
// CHECK:      %[[SUMS:.*]] = nn.cumulative_sum
// The product's cotangent reaches the first factor alone.
// CHECK:      %[[G:.*]] = nn.broadcast
// CHECK-NEXT: %[[DW:.*]] = nn.multiply %[[G]], %[[SUMS]]
// CHECK-NEXT: nn.carry ["loss", "gradient/w/0"] {{.*}} %{{.*}}, %[[DW]]
nn.step @train microbatches(1) inputs([]) attributes {objective = "loss"}
  prepare { nn.yield }
  microbatch {
    %w = nn.read @w : tensor<4xf32>
    %still = nn.stop_gradient %w : tensor<4xf32>
    %sums = nn.cumulative_sum %still 0 : tensor<4xf32>
    %p = nn.multiply %w, %sums : tensor<4xf32>
    %loss = nn.reduce sum %p [0] : tensor<4xf32> -> tensor<f32>
    nn.carry ["loss"] ["sum"] %loss : tensor<f32> }
  update { ^bb0(%loss: tensor<f32>): nn.yield }
