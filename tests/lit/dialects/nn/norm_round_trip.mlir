// Normalizations and the rotary embedding print as they are written, and read back from both forms.
// RUN: weft-opt %s | weft-opt | FileCheck %s
// RUN: weft-opt --mlir-print-op-generic %s | weft-opt | FileCheck %s

func.func @norms(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>, %w: tensor<8xf32>, %r: tensor<4xf32>) {
  // CHECK: nn.rms_norm %{{.*}}, %{{.*}} {epsilon = 1.000000e-05 : f64} : (tensor<4x8xf32>, tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4xf32>)
  %0, %1 = nn.rms_norm %x, %w {epsilon = 1.000000e-05 : f64} : (tensor<4x8xf32>, tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4xf32>)
  // CHECK: nn.rms_norm %{{.*}}, %{{.*}} {epsilon = 1.000000e-05 : f64, weight_offset = 1.000000e+00 : f64} : (tensor<4x8xf32>, tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4xf32>)
  %2, %3 = nn.rms_norm %x, %w {epsilon = 1.000000e-05 : f64, weight_offset = 1.000000e+00 : f64} : (tensor<4x8xf32>, tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4xf32>)
  // CHECK: nn.rms_norm_backward %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {epsilon = 1.000000e-05 : f64} : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<8xf32>, tensor<4xf32>) -> (tensor<4x8xf32>, tensor<8xf32>)
  %4, %5 = nn.rms_norm_backward %y, %x, %w, %r {epsilon = 1.000000e-05 : f64} : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<8xf32>, tensor<4xf32>) -> (tensor<4x8xf32>, tensor<8xf32>)
  // CHECK: nn.layer_norm %{{.*}}, %{{.*}}, %{{.*}} {epsilon = 1.000000e-05 : f64} : (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>)
  %6, %7, %8 = nn.layer_norm %x, %w, %w {epsilon = 1.000000e-05 : f64} : (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>)
  // CHECK: nn.layer_norm_backward %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {epsilon = 1.000000e-05 : f64} : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<8xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>)
  %9, %10, %11 = nn.layer_norm_backward %y, %x, %w, %r, %r {epsilon = 1.000000e-05 : f64} : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<8xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>)
  return
}

func.func @rope(%x: tensor<2x6x4x8xf32>, %table: tensor<6x4xf32>, %samples: tensor<2x6x3xf32>) {
  // CHECK: nn.rope %{{.*}}, %{{.*}}, %{{.*}} : (tensor<2x6x4x8xf32>, tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<2x6x4x8xf32>
  %0 = nn.rope %x, %table, %table : (tensor<2x6x4x8xf32>, tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<2x6x4x8xf32>
  // CHECK: nn.rope %{{.*}}, %{{.*}}, %{{.*}} {interleaved, inverse} : (tensor<2x6x4x8xf32>, tensor<2x6x3xf32>, tensor<2x6x3xf32>) -> tensor<2x6x4x8xf32>
  %1 = nn.rope %x, %samples, %samples {interleaved, inverse} : (tensor<2x6x4x8xf32>, tensor<2x6x3xf32>, tensor<2x6x3xf32>) -> tensor<2x6x4x8xf32>
  return
}
