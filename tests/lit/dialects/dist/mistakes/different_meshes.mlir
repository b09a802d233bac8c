// RUN: weft-opt %s --split-input-file --verify-diagnostics
// Two values of one op were placed on different meshes: rank 3 of one is not rank 3 of the other.

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
#other = #dist.mesh<t0 = 2, d0 = 2 : data = [d0], tensor = [t0]>
func.func @wrong(%x: tensor<8xf32, #dist.at<#mesh, [d0]>>, %y: tensor<8xf32, #dist.at<#other, [d0]>>) {
  // expected-error @+1 {{has operand 0 and operand 1 on two meshes; a program has one}}
  %z = nn.add %x, %y : (tensor<8xf32, #dist.at<#mesh, [d0]>>, tensor<8xf32, #dist.at<#other, [d0]>>) -> tensor<8xf32, #dist.at<#mesh, [d0]>>
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
#other = #dist.mesh<t0 = 2, d0 = 2 : data = [d0], tensor = [t0]>
module attributes {dist.mesh = #mesh} {
  func.func @wrong_module(%x: tensor<8xf32, #dist.at<#mesh, [d0]>>) {
    // expected-error @+1 {{'nn.constant' op has a placement on another mesh than the module}}
    %y = nn.constant dense<1.0> : tensor<8xf32, #dist.at<#other, [d0]>>
    return
  }
}

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
module attributes {dist.mesh = #mesh} {
  func.func @right(%x: tensor<8xf32, #dist.at<#mesh, [d0]>>) -> tensor<8xf32, #dist.at<#mesh, [d0]>> {
    %y = nn.constant dense<1.0> : tensor<8xf32, #dist.at<#mesh, [d0]>>
    %z = nn.add %x, %y : tensor<8xf32, #dist.at<#mesh, [d0]>>
    return %z : tensor<8xf32, #dist.at<#mesh, [d0]>>
  }
}
