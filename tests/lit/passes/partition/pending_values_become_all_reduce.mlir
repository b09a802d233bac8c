// RUN: weft-opt %s --weft-partition | FileCheck %s
// What every rank needs whole is all-reduced, over several axes at once; maxima as maxima.
#mesh = #dist.mesh<d0 = 2, t0 = 2>
// CHECK-LABEL: func.func @sum
func.func @sum(%x: tensor<f32, #dist.at<#mesh, sum [d0, t0]>>) -> tensor<f32, #dist.at<#mesh>> {
  // CHECK: dist.all_reduce.start sum %arg0 over ["d0", "t0"]
  %y = dist.reshard %x : tensor<f32, #dist.at<#mesh, sum [d0, t0]>> -> tensor<f32, #dist.at<#mesh>>
  return %y : tensor<f32, #dist.at<#mesh>>
}
// CHECK-LABEL: func.func @maximum
func.func @maximum(%x: tensor<8xf32, #dist.at<#mesh, [d0], max [t0]>>) -> tensor<8xf32, #dist.at<#mesh, [d0]>> {
  // CHECK: dist.all_reduce.start max %arg0 over ["t0"]
  %y = dist.reshard %x : tensor<8xf32, #dist.at<#mesh, [d0], max [t0]>> -> tensor<8xf32, #dist.at<#mesh, [d0]>>
  return %y : tensor<8xf32, #dist.at<#mesh, [d0]>>
}
