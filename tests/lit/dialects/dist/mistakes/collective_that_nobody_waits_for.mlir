// RUN: weft-opt %s --split-input-file --verify-diagnostics
// A collective is started and its result never taken, or taken twice.

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
#part = #dist.local<#mesh, 8, [t0]>
#all = #dist.local<#mesh, 8, []>
func.func @never(%x: tensor<4xf32, #part>) {
  // expected-error @+1 {{expects one dist.wait for its token, it has 0}}
  %t = dist.all_gather.start %x over ["t0"] dim 0 : tensor<4xf32, #part> -> !dist.token<tensor<8xf32, #all>>
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
#part = #dist.local<#mesh, 8, [t0]>
#all = #dist.local<#mesh, 8, []>
func.func @twice(%x: tensor<4xf32, #part>) {
  // expected-error @+1 {{expects one dist.wait for its token, it has 2}}
  %t = dist.all_gather.start %x over ["t0"] dim 0 : tensor<4xf32, #part> -> !dist.token<tensor<8xf32, #all>>
  %a = dist.wait %t : !dist.token<tensor<8xf32, #all>>
  %b = dist.wait %t : !dist.token<tensor<8xf32, #all>>
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
#part = #dist.local<#mesh, 8, [t0]>
#all = #dist.local<#mesh, 8, []>
func.func @right(%x: tensor<4xf32, #part>) -> tensor<8xf32, #all> {
  %t = dist.all_gather.start %x over ["t0"] dim 0 : tensor<4xf32, #part> -> !dist.token<tensor<8xf32, #all>>
  %a = dist.wait %t : !dist.token<tensor<8xf32, #all>>
  return %a : tensor<8xf32, #all>
}
