// RUN: weft-opt %s --split-input-file --verify-diagnostics
// A dimension is split over t0, and its parts over d0. Gathering over t0 first puts together pieces that are not
// neighbors.

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
#part = #dist.local<#mesh, 8, [t0, d0]>
#half = #dist.local<#mesh, 8, [d0]>
func.func @wrong(%x: tensor<2xf32, #part>) {
  // expected-error @+1 {{expects dimension 0 to be split last over [t0], its placement is [t0, d0]}}
  %t = dist.all_gather.start %x over ["t0"] dim 0 : tensor<2xf32, #part> -> !dist.token<tensor<4xf32, #half>>
  %y = dist.wait %t : !dist.token<tensor<4xf32, #half>>
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
#part = #dist.local<#mesh, 8, [t0, d0]>
#half = #dist.local<#mesh, 8, [t0]>
#all = #dist.local<#mesh, 8, []>
func.func @right(%x: tensor<2xf32, #part>) -> tensor<8xf32, #all> {
  %t = dist.all_gather.start %x over ["d0"] dim 0 : tensor<2xf32, #part> -> !dist.token<tensor<4xf32, #half>>
  %y = dist.wait %t : !dist.token<tensor<4xf32, #half>>
  %u = dist.all_gather.start %y over ["t0"] dim 0 : tensor<4xf32, #half> -> !dist.token<tensor<8xf32, #all>>
  %z = dist.wait %u : !dist.token<tensor<8xf32, #all>>
  return %z : tensor<8xf32, #all>
}
