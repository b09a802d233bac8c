// RUN: weft-opt %s --weft-partition | FileCheck %s
// Two axes split one dimension: one gather over both where they divide it, the minor axis first where a part has a
// padded tail to drop on the way.
#mesh = #dist.mesh<a = 2, b = 2>
// CHECK-LABEL: func.func @even
func.func @even(%x: tensor<8xf32, #dist.at<#mesh, [a, b]>>) -> tensor<8xf32, #dist.at<#mesh, []>> {
  // CHECK:     dist.all_gather.start %arg0 over ["a", "b"] dim 0
  // CHECK-NOT: dist.all_gather
  // CHECK:     return
  %y = dist.reshard %x : tensor<8xf32, #dist.at<#mesh, [a, b]>> -> tensor<8xf32, #dist.at<#mesh, []>>
  return %y : tensor<8xf32, #dist.at<#mesh, []>>
}
// CHECK-LABEL: func.func @uneven
func.func @uneven(%x: tensor<10xf32, #dist.at<#mesh, [a, b]>>) -> tensor<10xf32, #dist.at<#mesh, []>> {
  // CHECK: dist.all_gather.start %arg0 over ["b"] dim 0 : tensor<3xf32, {{.*}} -> <tensor<5xf32
  // CHECK: dist.all_gather.start %{{.*}} over ["a"] dim 0 : tensor<5xf32, {{.*}} -> <tensor<10xf32
  %y = dist.reshard %x : tensor<10xf32, #dist.at<#mesh, [a, b]>> -> tensor<10xf32, #dist.at<#mesh, []>>
  return %y : tensor<10xf32, #dist.at<#mesh, []>>
}
// Only the minor axis leaves: the other ranks' parts are not touched.
// CHECK-LABEL: func.func @minor
func.func @minor(%x: tensor<8xf32, #dist.at<#mesh, [a, b]>>) -> tensor<8xf32, #dist.at<#mesh, [a]>> {
  // CHECK:     dist.all_gather.start %arg0 over ["b"] dim 0
  // CHECK-NOT: dist.{{(slice|all_gather)}}
  // CHECK:     return
  %y = dist.reshard %x : tensor<8xf32, #dist.at<#mesh, [a, b]>> -> tensor<8xf32, #dist.at<#mesh, [a]>>
  return %y : tensor<8xf32, #dist.at<#mesh, [a]>>
}
