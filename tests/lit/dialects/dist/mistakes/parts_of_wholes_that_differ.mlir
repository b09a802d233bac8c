// RUN: weft-opt %s --split-input-file --verify-diagnostics
// Eight rows and seven rows have parts of four on two ranks. They are not the same rows.

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
func.func @wrong(%x: tensor<4xf32, #dist.local<#mesh, 8, [t0]>>, %y: tensor<4xf32, #dist.local<#mesh, 7, [t0]>>) {
  // expected-error @+1 {{has parts of 7 and of 8 in one dimension: that of operand 0 dimension 0 is 8 in the whole. Only parts of one size of the whole meet}}
  %z = nn.multiply %x, %y : (tensor<4xf32, #dist.local<#mesh, 8, [t0]>>, tensor<4xf32, #dist.local<#mesh, 7, [t0]>>) -> tensor<4xf32, #dist.local<#mesh, 7, [t0]>>
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
#part = #dist.local<#mesh, 8, [t0]>
func.func @right(%x: tensor<4xf32, #part>, %y: tensor<4xf32, #part>) -> tensor<4xf32, #part> {
  %z = nn.multiply %x, %y : tensor<4xf32, #part>
  return %z : tensor<4xf32, #part>
}
