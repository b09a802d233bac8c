// RUN: weft-opt %s --split-input-file --verify-diagnostics
// Each rank would begin to count anew.

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
#x = #dist.at<#mesh, [d0]>
func.func @wrong(%x: tensor<8xi64, #x>) {
  // expected-error @+1 {{needs dimension 0 of operand 0 whole, it is split over [d0]. Reshard it first, or split another dimension}}
  %y = nn.cumulative_sum %x 0 : tensor<8xi64, #x>
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
#all = #dist.at<#mesh, []>
func.func @right(%x: tensor<8xi64, #dist.at<#mesh, [d0]>>) -> tensor<8xi64, #all> {
  %whole = dist.reshard %x : tensor<8xi64, #dist.at<#mesh, [d0]>> -> tensor<8xi64, #all>
  %y = nn.cumulative_sum %whole 0 : tensor<8xi64, #all>
  return %y : tensor<8xi64, #all>
}
