// RUN: weft-opt %s --weft-place | FileCheck %s
// Three products need all of one value: it is gathered once.
// CHECK:         func.func @f
// CHECK:         dist.reshard %arg0
// CHECK-NOT:     dist.reshard %arg0
// CHECK-COUNT-3: nn.einsum
// CHECK-NOT:     dist.reshard %arg0
#mesh = #dist.mesh<t0 = 2>
#column = #dist.at<#mesh, [t0], []>
module attributes {dist.mesh = #mesh} {
  func.func @f(%x: tensor<4x8xf32> {dist.at = #dist.at<#mesh, [t0], []>}, %q: tensor<64x8xf32> {dist.at = #column}, %k: tensor<64x8xf32> {dist.at = #column}, %v: tensor<64x8xf32> {dist.at = #column}) -> (tensor<4x64xf32>, tensor<4x64xf32>, tensor<4x64xf32>) {
    %0 = nn.einsum "bh,fh->bf" (%x, %q) : (tensor<4x8xf32>, tensor<64x8xf32>) -> tensor<4x64xf32>
    %1 = nn.einsum "bh,fh->bf" (%x, %k) : (tensor<4x8xf32>, tensor<64x8xf32>) -> tensor<4x64xf32>
    %2 = nn.einsum "bh,fh->bf" (%x, %v) : (tensor<4x8xf32>, tensor<64x8xf32>) -> tensor<4x64xf32>
    return %0, %1, %2 : tensor<4x64xf32>, tensor<4x64xf32>, tensor<4x64xf32>
  }
}
