// RUN: weft-opt %s --weft-partition | FileCheck %s
// Seven rows on two ranks: the second has three, and one row of whatever was there. Where an op reduces over the rows,
// that row is first made neutral: zero for sums, minus infinity for maxima. Elsewhere it stays what it is.
#mesh = #dist.mesh<d0 = 2>
#rows = #dist.at<#mesh, [d0], []>
// CHECK-LABEL: func.func @sum
func.func @sum(%x: tensor<7x4xf32, #rows>) -> tensor<4xf32, #dist.at<#mesh, [], sum [d0]>> {
  // CHECK-NEXT: %[[E:.*]] = nn.exp %arg0
  // CHECK-NEXT: %[[M:.*]] = dist.mask %[[E]] dim 0 value 0.000000e+00 : tensor<4x4xf32
  // CHECK-NEXT: nn.reduce sum %[[M]] [0]
  %e = nn.exp %x : tensor<7x4xf32, #rows>
  %s = nn.reduce sum %e [0] : tensor<7x4xf32, #rows> -> tensor<4xf32, #dist.at<#mesh, [], sum [d0]>>
  return %s : tensor<4xf32, #dist.at<#mesh, [], sum [d0]>>
}
// CHECK-LABEL: func.func @maximum
func.func @maximum(%x: tensor<7x4xf32, #rows>) -> tensor<4xf32, #dist.at<#mesh, [], max [d0]>> {
  // CHECK-NEXT: %[[M:.*]] = dist.mask %arg0 dim 0 value 0xFFF0000000000000
  // CHECK-NEXT: nn.reduce max %[[M]] [0]
  %s = nn.reduce max %x [0] : tensor<7x4xf32, #rows> -> tensor<4xf32, #dist.at<#mesh, [], max [d0]>>
  return %s : tensor<4xf32, #dist.at<#mesh, [], max [d0]>>
}
// Both sides of a product: zero times what is unspecified may be no zero.
// CHECK-LABEL: func.func @product
func.func @product(%x: tensor<7x4xf32, #rows>, %y: tensor<7x6xf32, #rows>) -> tensor<4x6xf32, #dist.at<#mesh, [], [], sum [d0]>> {
  // CHECK-DAG: %[[X:.*]] = dist.mask %arg0 dim 0 value 0.000000e+00
  // CHECK-DAG: %[[Y:.*]] = dist.mask %arg1 dim 0 value 0.000000e+00
  // CHECK:     nn.einsum "bi,bj->ij"(%[[X]], %[[Y]])
  %s = nn.einsum "bi,bj->ij" (%x, %y) : (tensor<7x4xf32, #rows>, tensor<7x6xf32, #rows>) -> tensor<4x6xf32, #dist.at<#mesh, [], [], sum [d0]>>
  return %s : tensor<4x6xf32, #dist.at<#mesh, [], [], sum [d0]>>
}
// Rows that an index looks up are valid ones: no mask.
// CHECK-LABEL: func.func @lookup
// CHECK-NOT:   dist.mask
// CHECK:       return
func.func @lookup(%e: tensor<7x4xf32, #rows>, %ids: tensor<3xi32, #dist.at<#mesh, []>>) -> tensor<3x4xf32, #dist.at<#mesh, [], [], sum [d0]>> {
  %x = nn.gather %e, %ids : (tensor<7x4xf32, #rows>, tensor<3xi32, #dist.at<#mesh, []>>) -> tensor<3x4xf32, #dist.at<#mesh, [], [], sum [d0]>>
  return %x : tensor<3x4xf32, #dist.at<#mesh, [], [], sum [d0]>>
}
// Rows that divide: no mask.
// CHECK-LABEL: func.func @even
// CHECK-NOT:   dist.mask
// CHECK:       return
func.func @even(%x: tensor<8x4xf32, #rows>) -> tensor<4xf32, #dist.at<#mesh, [], sum [d0]>> {
  %s = nn.reduce sum %x [0] : tensor<8x4xf32, #rows> -> tensor<4xf32, #dist.at<#mesh, [], sum [d0]>>
  return %s : tensor<4xf32, #dist.at<#mesh, [], sum [d0]>>
}
