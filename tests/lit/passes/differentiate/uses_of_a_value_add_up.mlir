// A value that is used twice gets the sum of both cotangents.
// RUN: weft-opt %s --weft-differentiate | FileCheck %s

nn.parameter @w : tensor<f32> constant

// CHECK:      %[[W:.*]] = nn.read @w
// CHECK:      %[[T:.*]] = nn.tanh %[[W]]
// CHECK:      %[[ONE:.*]] = nn.constant dense<1.000000e+00>
// CHECK:      %[[A:.*]] = nn.multiply %[[ONE]], %[[T]]
// CHECK-NEXT: %[[B:.*]] = nn.multiply %[[ONE]], %[[T]]
// CHECK-NEXT: nn.add %[[A]], %[[B]] : tensor<f32>
nn.step @train microbatches(1) inputs([]) attributes {objective = "loss"}
  prepare { nn.yield }
  microbatch {
    %w = nn.read @w : tensor<f32>
    %t = nn.tanh %w : tensor<f32>
    %loss = nn.multiply %t, %t : tensor<f32>
    nn.carry ["loss"] ["sum"] %loss : tensor<f32> }
  update { ^bb0(%loss: tensor<f32>): nn.yield }
