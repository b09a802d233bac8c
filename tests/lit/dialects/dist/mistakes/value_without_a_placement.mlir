// RUN: weft-opt %s --split-input-file --verify-diagnostics
// A value that a pass forgot: on a mesh every value has a placement, and all are in one view.

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
func.func @wrong(%x: tensor<8xf32, #dist.at<#mesh, []>>, %y: tensor<8xf32>) {
  // expected-error @+1 {{has operand 0 with a placement and operand 1 without: on a mesh every value has one}}
  %z = nn.add %x, %y : (tensor<8xf32, #dist.at<#mesh, []>>, tensor<8xf32>) -> tensor<8xf32, #dist.at<#mesh, []>>
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
func.func @wrong_view(%x: tensor<8xf32, #dist.at<#mesh, []>>, %y: tensor<8xf32, #dist.local<#mesh, 8, []>>) {
  // expected-error @+1 {{has operand 0 of the global view and operand 1 of the local view (#dist.local): a program is in one}}
  %z = nn.add %x, %y : (tensor<8xf32, #dist.at<#mesh, []>>, tensor<8xf32, #dist.local<#mesh, 8, []>>) -> tensor<8xf32, #dist.at<#mesh, []>>
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
func.func @right(%x: tensor<8xf32, #dist.at<#mesh, []>>, %y: tensor<8xf32, #dist.at<#mesh, []>>) -> tensor<8xf32, #dist.at<#mesh, []>> {
  %z = nn.add %x, %y : tensor<8xf32, #dist.at<#mesh, []>>
  return %z : tensor<8xf32, #dist.at<#mesh, []>>
}
