// An attention bias is a vector in the checkpoint and [heads, dimension] here: marked as such, it does not decay.
// RUN: weft-opt %s --weft-differentiate --weft-update="weight-decay=0.1" | FileCheck %s
// CHECK: nn.adamw {{.*}} weight_decay = 0.000000e+00
// CHECK: nn.adamw {{.*}} weight_decay = 1.000000e-01

nn.parameter @q_proj.bias : tensor<2x4xf32> constant {nn.one_dimensional}
nn.parameter @q_proj.weight : tensor<2x4xf32> constant

nn.step @step microbatches(1) inputs([]) attributes {objective = "loss"}
  prepare { nn.yield }
  microbatch {
    %b = nn.read @q_proj.bias : tensor<2x4xf32>
    %w = nn.read @q_proj.weight : tensor<2x4xf32>
    %s = nn.multiply %b, %w : tensor<2x4xf32>
    %loss = nn.reduce sum %s [0, 1] : tensor<2x4xf32> -> tensor<f32>
    nn.carry ["loss"] ["sum"] %loss : tensor<f32> }
  update { ^bb0(%loss: tensor<f32>): nn.yield ["loss"] %loss : tensor<f32> }
