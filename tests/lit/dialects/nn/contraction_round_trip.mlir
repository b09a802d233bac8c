// Einsum and reductions print as they are written, and read back from both forms.
// RUN: weft-opt %s | weft-opt | FileCheck %s
// RUN: weft-opt --mlir-print-op-generic %s | weft-opt | FileCheck %s

func.func @contraction(%x: tensor<4x8x16xf32>, %w: tensor<32x16xf32>, %i: tensor<4x8xi32>, %s: tensor<f32>) {
  // CHECK: nn.einsum "bsh,fh->bsf"(%{{.*}}, %{{.*}}) : (tensor<4x8x16xf32>, tensor<32x16xf32>) -> tensor<4x8x32xf32>
  %0 = nn.einsum "bsh,fh->bsf"(%x, %w) : (tensor<4x8x16xf32>, tensor<32x16xf32>) -> tensor<4x8x32xf32>
  // CHECK: nn.einsum ",->"(%{{.*}}, %{{.*}}) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %1 = nn.einsum ",->"(%s, %s) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // CHECK: nn.einsum "bsh,fh->bsf"(%{{.*}}, %{{.*}}) : (tensor<4x8x16xf32>, tensor<32x16xf32>) -> tensor<4x8x32xbf16>
  %2 = nn.einsum "bsh,fh->bsf"(%x, %w) : (tensor<4x8x16xf32>, tensor<32x16xf32>) -> tensor<4x8x32xbf16>
  // CHECK: nn.reduce sum %{{.*}} [1] : tensor<4x8x16xf32> -> tensor<4x16xf32>
  %3 = nn.reduce sum %x [1] : tensor<4x8x16xf32> -> tensor<4x16xf32>
  // CHECK: nn.reduce max %{{.*}} [0, 2] : tensor<4x8x16xf32> -> tensor<8xf32>
  %4 = nn.reduce max %x [0, 2] : tensor<4x8x16xf32> -> tensor<8xf32>
  // CHECK: nn.reduce min %{{.*}} [1] : tensor<4x8xi32> -> tensor<4xi32>
  %5 = nn.reduce min %i [1] : tensor<4x8xi32> -> tensor<4xi32>
  // CHECK: nn.reduce sum %{{.*}} [0, 1] : tensor<4x8xi32> -> tensor<i64>
  %6 = nn.reduce sum %i [0, 1] : tensor<4x8xi32> -> tensor<i64>
  // CHECK: nn.cumulative_sum %{{.*}} 1 : tensor<4x8xi32>
  %7 = nn.cumulative_sum %i 1 : tensor<4x8xi32>
  // CHECK: nn.top_k %{{.*}} : tensor<4x8x16xf32> -> tensor<4x8x2xf32>, tensor<4x8x2xi32>
  %8, %9 = nn.top_k %x : tensor<4x8x16xf32> -> tensor<4x8x2xf32>, tensor<4x8x2xi32>
  // CHECK: nn.squared_norm %{{.*}} : tensor<4x8x16xf32> -> tensor<f64>
  %10 = nn.squared_norm %x : tensor<4x8x16xf32> -> tensor<f64>
  return
}
