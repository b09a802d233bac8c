// RUN: weft-opt %s --split-input-file --verify-diagnostics
// What is whole on every rank is cut, not summed: dist.slice.

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
#all = #dist.local<#mesh, 8, []>
#part = #dist.local<#mesh, 8, [t0]>
func.func @wrong(%x: tensor<8xf32, #all>) {
  // expected-error @+1 {{expects a pending sum over [t0], its placement is []}}
  %t = dist.reduce_scatter.start sum %x over ["t0"] dim 0 : tensor<8xf32, #all> -> !dist.token<tensor<4xf32, #part>>
  %y = dist.wait %t : !dist.token<tensor<4xf32, #part>>
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
#all = #dist.local<#mesh, 8, []>
#part = #dist.local<#mesh, 8, [t0]>
func.func @right(%x: tensor<8xf32, #all>) -> tensor<4xf32, #part> {
  %y = dist.slice %x over ["t0"] dim 0 : tensor<8xf32, #all> -> tensor<4xf32, #part>
  return %y : tensor<4xf32, #part>
}
