// RUN: weft-opt %s --split-input-file --verify-diagnostics
// Each rank would take the mean square of its part of the features.

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
#x = #dist.at<#mesh, [], [t0]>
func.func @wrong(%x: tensor<4x8xf32, #x>, %w: tensor<8xf32, #dist.at<#mesh, [t0]>>) {
  // expected-error @+1 {{needs dimension 1 of operand 0 whole, it is split over [t0]. Reshard it first, or split another dimension}}
  %y, %r = nn.rms_norm %x, %w {epsilon = 1.0e-5 : f64} : (tensor<4x8xf32, #x>, tensor<8xf32, #dist.at<#mesh, [t0]>>) -> (tensor<4x8xf32, #x>, tensor<4xf32, #dist.at<#mesh, []>>)
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
#x = #dist.at<#mesh, [t0], []>
func.func @right(%x: tensor<4x8xf32, #x>, %w: tensor<8xf32, #dist.at<#mesh, []>>) -> tensor<4x8xf32, #x> {
  %y, %r = nn.rms_norm %x, %w {epsilon = 1.0e-5 : f64} : (tensor<4x8xf32, #x>, tensor<8xf32, #dist.at<#mesh, []>>) -> (tensor<4x8xf32, #x>, tensor<4xf32, #dist.at<#mesh, [t0]>>)
  return %y : tensor<4x8xf32, #x>
}
