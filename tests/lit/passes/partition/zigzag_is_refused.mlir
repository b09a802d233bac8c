// RUN: weft-opt %s --weft-partition --verify-diagnostics
// Zigzag splits are for causal attention over a ring, and no path of collectives makes or takes one.
#mesh = #dist.mesh<c0 = 2>
func.func @f(%x: tensor<8xf32, #dist.at<#mesh, zigzag [c0]>>) -> tensor<8xf32, #dist.at<#mesh, []>> {
  // expected-error @+1 {{'dist.reshard' op changes a zigzag split, which only dist.ring reads: zigzag [c0]}}
  %y = dist.reshard %x : tensor<8xf32, #dist.at<#mesh, zigzag [c0]>> -> tensor<8xf32, #dist.at<#mesh, []>>
  return %y : tensor<8xf32, #dist.at<#mesh, []>>
}
