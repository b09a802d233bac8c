// RUN: weft-opt %s --weft-place | FileCheck %s
// A dimension split over two axes, major to minor, stays so through ops that keep it whole, and is shared out between
// the factors of a reshape: the major axis to the major factor.
#mesh = #dist.mesh<a = 2, b = 3>
module attributes {dist.mesh = #mesh} {
  // CHECK-LABEL: func.func @f
  func.func @f(%x: tensor<6x4xf32> {dist.at = #dist.at<#mesh, [b, a], []>}) -> tensor<3x2x4xf32> {
    // CHECK: nn.exp %arg0 : tensor<6x4xf32, #dist.at<#mesh, [b, a], []>>
    %0 = nn.exp %x : tensor<6x4xf32>
    // CHECK: nn.reshape %{{.*}} : tensor<6x4xf32, #dist.at<#mesh, [b, a], []>> -> tensor<3x2x4xf32, #dist.at<#mesh, [b], [a], []>>
    %1 = nn.reshape %0 : tensor<6x4xf32> -> tensor<3x2x4xf32>
    return %1 : tensor<3x2x4xf32>
  }
}
