// RUN: weft-opt %s --weft-partition | FileCheck %s
// Axes of a tree that go to one dimension go together: the minor one first, alone, would split the dimension the wrong way
// round. Where they do not divide it evenly, every rank gets the minor axis' sum, and what it needs of it is cut last.

#mesh = #dist.mesh<d0 = 2, d1 = 2 : data = [d0, d1]>
// CHECK-LABEL: func.func @even
// CHECK:       dist.reduce_scatter.start tree %arg0 over ["d0", "d1"] dim 0
// CHECK-NOT:   reduce
func.func @even(%x: tensor<8x3xf32, #dist.at<#mesh, [], [], tree [d0, d1]>>) -> tensor<8x3xf32, #dist.at<#mesh, [d0, d1], []>> {
  %y = dist.reshard %x : tensor<8x3xf32, #dist.at<#mesh, [], [], tree [d0, d1]>> -> tensor<8x3xf32, #dist.at<#mesh, [d0, d1], []>>
  return %y : tensor<8x3xf32, #dist.at<#mesh, [d0, d1], []>>
}
// CHECK-LABEL: func.func @uneven
// CHECK:       dist.all_reduce.start tree %arg0 over ["d1"]
// CHECK:       dist.reduce_scatter.start tree %{{.*}} over ["d0"] dim 0
// CHECK:       dist.slice %{{.*}} over ["d1"] dim 0
func.func @uneven(%x: tensor<5xf32, #dist.at<#mesh, [], tree [d0, d1]>>) -> tensor<5xf32, #dist.at<#mesh, [d0, d1]>> {
  %y = dist.reshard %x : tensor<5xf32, #dist.at<#mesh, [], tree [d0, d1]>> -> tensor<5xf32, #dist.at<#mesh, [d0, d1]>>
  return %y : tensor<5xf32, #dist.at<#mesh, [d0, d1]>>
}
// Another dimension may take the minor axis on the way.
// CHECK-LABEL: func.func @detour
// CHECK:       dist.reduce_scatter.start tree %arg0 over ["d1"] dim 1
// CHECK:       dist.reduce_scatter.start tree %{{.*}} over ["d0"] dim 0
// CHECK:       dist.all_to_all.start %{{.*}} over ["d1"] from 1 to 0
func.func @detour(%x: tensor<5x3xf32, #dist.at<#mesh, [], [], tree [d0, d1]>>) -> tensor<5x3xf32, #dist.at<#mesh, [d0, d1], []>> {
  %y = dist.reshard %x : tensor<5x3xf32, #dist.at<#mesh, [], [], tree [d0, d1]>> -> tensor<5x3xf32, #dist.at<#mesh, [d0, d1], []>>
  return %y : tensor<5x3xf32, #dist.at<#mesh, [d0, d1], []>>
}
// CHECK-LABEL: func.func @reversed
// CHECK:       dist.reduce_scatter.start tree %arg0 over ["d1"] dim 0
// CHECK:       dist.reduce_scatter.start tree %{{.*}} over ["d0"] dim 0
func.func @reversed(%x: tensor<8xf32, #dist.at<#mesh, [], tree [d0, d1]>>) -> tensor<8xf32, #dist.at<#mesh, [d1, d0]>> {
  %y = dist.reshard %x : tensor<8xf32, #dist.at<#mesh, [], tree [d0, d1]>> -> tensor<8xf32, #dist.at<#mesh, [d1, d0]>>
  return %y : tensor<8xf32, #dist.at<#mesh, [d1, d0]>>
}
