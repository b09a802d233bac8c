// RUN: weft-opt %s --split-input-file --verify-diagnostics
// A gradient that was summed per microbatch is summed again in update: it comes out as many times too large as there are
// data ranks.

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
#terms = #dist.local<#mesh, 8, [], sum [d0]>
#sum = #dist.local<#mesh, 8, []>
func.func @wrong(%g: tensor<8xf32, #terms>) {
  %t = dist.all_reduce.start sum %g over ["d0"] : tensor<8xf32, #terms> -> !dist.token<tensor<8xf32, #sum>>
  %once = dist.wait %t : !dist.token<tensor<8xf32, #sum>>
  // expected-error @+1 {{expects a pending sum over [d0], its placement is []}}
  %u = dist.all_reduce.start sum %once over ["d0"] : tensor<8xf32, #sum> -> !dist.token<tensor<8xf32, #sum>>
  %twice = dist.wait %u : !dist.token<tensor<8xf32, #sum>>
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
#terms = #dist.local<#mesh, 8, [], sum [d0]>
#sum = #dist.local<#mesh, 8, []>
func.func @right(%g: tensor<8xf32, #terms>) -> tensor<8xf32, #sum> {
  %t = dist.all_reduce.start sum %g over ["d0"] : tensor<8xf32, #terms> -> !dist.token<tensor<8xf32, #sum>>
  %once = dist.wait %t : !dist.token<tensor<8xf32, #sum>>
  return %once : tensor<8xf32, #sum>
}
