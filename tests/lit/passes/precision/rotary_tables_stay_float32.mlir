// A rotary table is rounded once, to float32, whatever the recipe.
// RUN: weft-opt %s --weft-precision=recipe=bf16 | FileCheck %s

nn.parameter @q : tensor<1x2x1x4xf32> constant

// CHECK: nn.rope {{.*}} : (tensor<1x2x1x4xbf16>, tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<1x2x1x4xbf16>
nn.step @train microbatches(1) inputs([])
  prepare { nn.yield }
  microbatch {
    %table = nn.constant dense<1.0> : tensor<2x2xf32>
    %q = nn.read @q : tensor<1x2x1x4xf32>
    %r = nn.rope %q, %table, %table : (tensor<1x2x1x4xf32>, tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<1x2x1x4xf32>
    %s = nn.reduce sum %r [0, 1, 2, 3] : tensor<1x2x1x4xf32> -> tensor<f32>
    nn.carry ["loss"] ["sum"] %s : tensor<f32> }
  update { ^bb0(%s: tensor<f32>): nn.yield }
