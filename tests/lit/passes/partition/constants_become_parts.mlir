// RUN: weft-opt %s --weft-partition | FileCheck %s
// A splat is as well a part; any other constant is whole on every rank.
#mesh = #dist.mesh<d0 = 2>
// CHECK-LABEL: func.func @f
func.func @f() -> (tensor<4x6xf32, #dist.at<#mesh, [d0], []>>, tensor<3xi32, #dist.at<#mesh, []>>) {
  // CHECK: nn.constant dense<1.000000e+00> : tensor<2x6xf32, #dist.local<#mesh, 4x6, [d0], []>>
  %0 = nn.constant dense<1.0> : tensor<4x6xf32, #dist.at<#mesh, [d0], []>>
  // CHECK: nn.constant dense<[1, 2, 3]> : tensor<3xi32, #dist.local<#mesh, 3, []>>
  %1 = nn.constant dense<[1, 2, 3]> : tensor<3xi32, #dist.at<#mesh, []>>
  return %0, %1 : tensor<4x6xf32, #dist.at<#mesh, [d0], []>>, tensor<3xi32, #dist.at<#mesh, []>>
}
