// RUN: weft-opt %s --weft-partition | FileCheck %s
// What all ranks hold already moves no byte: a part is cut out, a pending sum keeps it on one rank.
#mesh = #dist.mesh<t0 = 2>
// CHECK-LABEL: func.func @part
func.func @part(%x: tensor<8xf32, #dist.at<#mesh, []>>) -> tensor<8xf32, #dist.at<#mesh, [t0]>> {
  // CHECK-NEXT: %[[Y:.*]] = dist.slice %arg0 over ["t0"] dim 0
  // CHECK-NEXT: return %[[Y]]
  %y = dist.reshard %x : tensor<8xf32, #dist.at<#mesh, []>> -> tensor<8xf32, #dist.at<#mesh, [t0]>>
  return %y : tensor<8xf32, #dist.at<#mesh, [t0]>>
}
// CHECK-LABEL: func.func @term
func.func @term(%x: tensor<8xf32, #dist.at<#mesh, []>>) -> tensor<8xf32, #dist.at<#mesh, [], sum [t0]>> {
  // CHECK-NEXT: %[[Y:.*]] = dist.keep_first %arg0 over ["t0"]
  // CHECK-NEXT: return %[[Y]]
  %y = dist.reshard %x : tensor<8xf32, #dist.at<#mesh, []>> -> tensor<8xf32, #dist.at<#mesh, [], sum [t0]>>
  return %y : tensor<8xf32, #dist.at<#mesh, [], sum [t0]>>
}
