// RUN: weft-opt %s --weft-partition | FileCheck %s
// An axis moves from one dimension to another by one all-to-all: each rank sends what it has of the others' parts, and
// nothing is ever whole.
// CHECK-LABEL: func.func @rows_to_columns
// CHECK-NOT:   all_gather
// CHECK:       dist.all_to_all.start %arg0 over ["a"] from 0 to 1 : tensor<4x8xf32, {{.*}} -> <tensor<8x4xf32
#mesh = #dist.mesh<a = 2, b = 2>
func.func @rows_to_columns(%x: tensor<8x8xf32, #dist.at<#mesh, [a], []>>) -> tensor<8x8xf32, #dist.at<#mesh, [], [a]>> {
  %y = dist.reshard %x : tensor<8x8xf32, #dist.at<#mesh, [a], []>> -> tensor<8x8xf32, #dist.at<#mesh, [], [a]>>
  return %y : tensor<8x8xf32, #dist.at<#mesh, [], [a]>>
}
// Two axes of one dimension become one for each.
// CHECK-LABEL: func.func @spread
// CHECK:       dist.all_to_all.start %arg0 over ["b"] from 0 to 1
// CHECK-NOT:   dist.all
// CHECK:       return
func.func @spread(%x: tensor<8x8xf32, #dist.at<#mesh, [a, b], []>>) -> tensor<8x8xf32, #dist.at<#mesh, [a], [b]>> {
  %y = dist.reshard %x : tensor<8x8xf32, #dist.at<#mesh, [a, b], []>> -> tensor<8x8xf32, #dist.at<#mesh, [a], [b]>>
  return %y : tensor<8x8xf32, #dist.at<#mesh, [a], [b]>>
}
