// RUN: weft-opt %s --weft-place | FileCheck %s
// Two query groups on four tensor ranks: heads split over both axes, groups over the major one; over the minor one keys
// and values are replicated, and the types say so.
// CHECK: nn.attention {{.*}} : (tensor<2x6x8x4xf32, #dist.at<#mesh, [], [], [t0, t1], []>>, tensor<2x6x2x4xf32, #dist.at<#mesh, [], [], [t0], []>>, tensor<2x6x2x4xf32, #dist.at<#mesh, [], [], [t0], []>>) -> (tensor<2x6x8x4xf32, #dist.at<#mesh, [], [], [t0, t1], []>>, tensor<2x8x6xf32, #dist.at<#mesh, [], [t0, t1], []>>)
#mesh = #dist.mesh<t0 = 2, t1 = 2 : tensor = [t0, t1]>
module attributes {dist.mesh = #mesh} {
  func.func @f(%q: tensor<2x6x8x4xf32> {dist.at = #dist.at<#mesh, [], [], [t0, t1], []>}, %k: tensor<2x6x2x4xf32> {dist.at = #dist.at<#mesh, [], [], [t0], []>}, %v: tensor<2x6x2x4xf32>) -> tensor<2x6x8x4xf32> {
    %o, %l = nn.attention %q, %k, %v {causal, scale = 0.5 : f64} : (tensor<2x6x8x4xf32>, tensor<2x6x2x4xf32>, tensor<2x6x2x4xf32>) -> (tensor<2x6x8x4xf32>, tensor<2x8x6xf32>)
    return %o : tensor<2x6x8x4xf32>
  }
}
