// A pending log-sum-exp prints as it is written, in both views and beside other kinds.
// RUN: weft-opt %s | weft-opt | FileCheck %s
#mesh = #dist.mesh<d0 = 2, t0 = 2, t1 = 2 : tensor = [t0, t1]>
#pending = #dist.local<#mesh, 4, [d0], lse [t0, t1]>

// CHECK-LABEL: @global
func.func @global(%x: tensor<4xf32, #dist.at<#mesh, [], sum [d0], lse [t0]>>) {
  // CHECK: dist.reshard %{{.*}} : tensor<4xf32, #dist.at<#mesh, [], sum [d0], lse [t0]>> -> tensor<4xf32, #dist.at<#mesh, [t0], sum [d0]>>
  %0 = dist.reshard %x : tensor<4xf32, #dist.at<#mesh, [], sum [d0], lse [t0]>> -> tensor<4xf32, #dist.at<#mesh, [t0], sum [d0]>>
  return
}

// CHECK-LABEL: @local
func.func @local(%x: tensor<2xf32, #pending>) {
  // CHECK: dist.all_reduce.start lse %{{.*}} over ["t0", "t1"]
  %0 = dist.all_reduce.start lse %x over ["t0", "t1"] : tensor<2xf32, #pending> -> !dist.token<tensor<2xf32, #dist.local<#mesh, 4, [d0]>>>
  %1 = dist.wait %0 : !dist.token<tensor<2xf32, #dist.local<#mesh, 4, [d0]>>>
  // CHECK: dist.reduce_scatter.start lse %{{.*}} over ["t0"] dim 0
  %2 = dist.reduce_scatter.start lse %x over ["t0"] dim 0 : tensor<2xf32, #pending> -> !dist.token<tensor<1xf32, #dist.local<#mesh, 4, [d0, t0], lse [t1]>>>
  %3 = dist.wait %2 : !dist.token<tensor<1xf32, #dist.local<#mesh, 4, [d0, t0], lse [t1]>>>
  return
}
