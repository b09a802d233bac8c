// RUN: weft-opt %s --weft-place | FileCheck %s
// Two factors want one axis: rows of the large operand, or columns of the small one. The small one moves.
#mesh = #dist.mesh<a = 2>
module attributes {dist.mesh = #mesh} {
  // CHECK-LABEL: func.func @large_rows
  func.func @large_rows(%x: tensor<64x8xf32> {dist.at = #dist.at<#mesh, [a], []>}, %w: tensor<4x8xf32> {dist.at = #dist.at<#mesh, [a], []>}) -> tensor<64x4xf32> {
    // CHECK: %[[W:.*]] = dist.reshard %arg1 : tensor<4x8xf32, #dist.at<#mesh, [a], []>> -> tensor<4x8xf32, #dist.at<#mesh, [], []>>
    // CHECK: nn.einsum "bh,fh->bf"(%arg0, %[[W]]) {{.*}} -> tensor<64x4xf32, #dist.at<#mesh, [a], []>>
    %y = nn.einsum "bh,fh->bf" (%x, %w) : (tensor<64x8xf32>, tensor<4x8xf32>) -> tensor<64x4xf32>
    return %y : tensor<64x4xf32>
  }
  // CHECK-LABEL: func.func @large_columns
  func.func @large_columns(%x: tensor<4x8xf32> {dist.at = #dist.at<#mesh, [a], []>}, %w: tensor<64x8xf32> {dist.at = #dist.at<#mesh, [a], []>}) -> tensor<4x64xf32> {
    // CHECK: %[[X:.*]] = dist.reshard %arg0 : tensor<4x8xf32, #dist.at<#mesh, [a], []>> -> tensor<4x8xf32, #dist.at<#mesh, [], []>>
    // CHECK: nn.einsum "bh,fh->bf"(%[[X]], %arg1) {{.*}} -> tensor<4x64xf32, #dist.at<#mesh, [], [a]>>
    %y = nn.einsum "bh,fh->bf" (%x, %w) : (tensor<4x8xf32>, tensor<64x8xf32>) -> tensor<4x64xf32>
    return %y : tensor<4x64xf32>
  }
}
