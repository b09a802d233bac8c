// RUN: weft-opt %s --split-input-file --verify-diagnostics
// Each rank would normalize its part of the scores by itself.

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
#keys = #dist.at<#mesh, [], [t0]>
func.func @wrong(%x: tensor<4x8xf32, #keys>) {
  // expected-error @+1 {{needs dimension 1 of operand 0 whole, it is split over [t0]. Reshard it first, or split another dimension}}
  %y = nn.softmax %x : tensor<4x8xf32, #keys>
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
#rows = #dist.at<#mesh, [t0], []>
func.func @right(%x: tensor<4x8xf32, #dist.at<#mesh, [], [t0]>>) -> tensor<4x8xf32, #rows> {
  %r = dist.reshard %x : tensor<4x8xf32, #dist.at<#mesh, [], [t0]>> -> tensor<4x8xf32, #rows>
  %y = nn.softmax %r : tensor<4x8xf32, #rows>
  return %y : tensor<4x8xf32, #rows>
}
