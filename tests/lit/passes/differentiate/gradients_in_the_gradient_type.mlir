// The cotangent of a bf16 cast of a float32 parameter is built in float32: no gradient is rounded to bf16 on its way, not
// through a layer boundary either.
// RUN: weft-opt %s --weft-differentiate | FileCheck %s

nn.parameter @w : tensor<4x8xf32> constant
nn.parameter @v : tensor<4xf32> constant

// CHECK:      %[[A:.*]] = nn.cast %{{.*}} : tensor<4xbf16> -> tensor<4xf32>
// CHECK:      nn.boundary 1 %{{.*}} {backward} : tensor<4xbf16>
// CHECK-NEXT: %[[B:.*]] = nn.cast %{{.*}} : tensor<4xbf16> -> tensor<4xf32>
// CHECK-NEXT: %[[DV:.*]] = nn.add %[[A]], %[[B]] : tensor<4xf32>
// CHECK:      %[[DW:.*]] = nn.einsum {{.*}} : (tensor<4xbf16>, tensor<8xbf16>) -> tensor<4x8xf32>
// CHECK-NOT: nn.cast %[[DW]]
// CHECK:      nn.carry ["loss", "gradient/w/0", "gradient/v/0"] {{.*}} %{{.*}}, %[[DW]], %[[DV]] : tensor<f32>, tensor<4x8xf32>, tensor<4xf32>
nn.step @train microbatches(1) inputs(["x"]) attributes {objective = "loss"}
  prepare { ^bb0(%x: tensor<1x8xbf16>): nn.yield }
  microbatch { ^bb0(%x: tensor<8xbf16>):
    %w = nn.read @w : tensor<4x8xf32>
    %w16 = nn.cast %w : tensor<4x8xf32> -> tensor<4x8xbf16>
    %y = nn.einsum "fh,h->f" (%w16, %x) : (tensor<4x8xbf16>, tensor<8xbf16>) -> tensor<4xbf16>
    %v = nn.read @v : tensor<4xf32>
    %v16 = nn.cast %v : tensor<4xf32> -> tensor<4xbf16>
    %b = nn.boundary 1 %v16 : tensor<4xbf16>
    %m = nn.add %v16, %b : tensor<4xbf16>
    %s = nn.add %y, %m : tensor<4xbf16>
    %loss = nn.reduce sum %s [0] : tensor<4xbf16> -> tensor<f32>
    nn.carry ["loss"] ["sum"] %loss : tensor<f32> }
  update { ^bb0(%loss: tensor<f32>): nn.yield }
