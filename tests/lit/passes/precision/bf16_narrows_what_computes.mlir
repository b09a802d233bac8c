// Under bf16 a parameter's read is followed by a cast, what is computed from it is bf16, and statistics, sums and
// losses stay float32.
// RUN: weft-opt %s --weft-precision=recipe=bf16 | FileCheck %s
// RUN: weft-opt %s --weft-precision=recipe=fp32 | FileCheck %s --check-prefix=FP32

nn.parameter @norm : tensor<8xf32> constant {mean = 1.0}
nn.parameter @w : tensor<4x8xf32> normal {deviation = 0.02}
nn.parameter @head : tensor<10x4xf32> normal {deviation = 0.02}

// FP32-NOT: bf16
// CHECK:      nn.step
// CHECK:      %[[NORM:.*]] = nn.read @norm : tensor<8xf32>
// CHECK-NEXT: %[[NORM16:.*]] = nn.cast %[[NORM]] : tensor<8xf32> -> tensor<8xbf16>
// CHECK:      nn.rms_norm %{{.*}}, %[[NORM16]] {{.*}} -> (tensor<2x8xbf16>, tensor<2xf32>)
// CHECK:      nn.einsum {{.*}} : (tensor<2x8xbf16>, tensor<4x8xbf16>) -> tensor<2x4xbf16>
// CHECK:      nn.reduce max {{.*}} : tensor<2x4xbf16> -> tensor<2xbf16>
// CHECK:      nn.linear_cross_entropy {{.*}} : (tensor<2x4xbf16>, tensor<10x4xbf16>, tensor<2xi32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>)
// CHECK:      nn.reduce sum {{.*}} : tensor<2xf32> -> tensor<f32>
// What is carried keeps its declared type.
// CHECK:      %[[LARGEST:.*]] = nn.cast %{{.*}} : tensor<2xbf16> -> tensor<2xf32>
// CHECK:      nn.carry {{.*}} %{{.*}}, %[[LARGEST]] : tensor<f32>, tensor<2xf32>
nn.step @train microbatches(1) inputs(["x", "targets"]) attributes {objective = "loss"}
  prepare { ^bb0(%x: tensor<1x2x8xf32>, %t: tensor<1x2xi32>): nn.yield }
  microbatch { ^bb0(%x: tensor<2x8xf32>, %t: tensor<2xi32>):
    %norm = nn.read @norm : tensor<8xf32>
    %n, %r = nn.rms_norm %x, %norm {epsilon = 1.0e-5} : (tensor<2x8xf32>, tensor<8xf32>) -> (tensor<2x8xf32>, tensor<2xf32>)
    %w = nn.read @w : tensor<4x8xf32>
    %y = nn.einsum "bh,fh->bf" (%n, %w) : (tensor<2x8xf32>, tensor<4x8xf32>) -> tensor<2x4xf32>
    %largest = nn.reduce max %y [1] : tensor<2x4xf32> -> tensor<2xf32>
    %head = nn.read @head : tensor<10x4xf32>
    %rows, %z, %lse = nn.linear_cross_entropy %y, %head, %t
      : (tensor<2x4xf32>, tensor<10x4xf32>, tensor<2xi32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>)
    %loss = nn.reduce sum %rows [0] : tensor<2xf32> -> tensor<f32>
    nn.carry ["loss", "largest"] ["sum", "max"] %loss, %largest : tensor<f32>, tensor<2xf32> }
  update { ^bb0(%loss: tensor<f32>, %largest: tensor<2xf32>): nn.yield ["loss"] %loss : tensor<f32> }
