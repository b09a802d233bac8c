// RUN: weft-opt %s --split-input-file --verify-diagnostics
// The terms of a row-parallel projection are on the tensor ranks; a reduction over the data ranks adds values of different
// samples.

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
#terms = #dist.local<#mesh, 4x8, [d0], [], sum [t0]>
#done = #dist.local<#mesh, 4x8, [d0], []>
func.func @wrong(%y: tensor<2x8xf32, #terms>) {
  // expected-error @+1 {{expects a pending sum over [d0], its placement is [d0] [] sum [t0]}}
  %t = dist.all_reduce.start sum %y over ["d0"] : tensor<2x8xf32, #terms> -> !dist.token<tensor<2x8xf32, #done>>
  %z = dist.wait %t : !dist.token<tensor<2x8xf32, #done>>
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
#terms = #dist.local<#mesh, 4x8, [d0], [], sum [t0]>
#done = #dist.local<#mesh, 4x8, [d0], []>
func.func @right(%y: tensor<2x8xf32, #terms>) -> tensor<2x8xf32, #done> {
  %t = dist.all_reduce.start sum %y over ["t0"] : tensor<2x8xf32, #terms> -> !dist.token<tensor<2x8xf32, #done>>
  %z = dist.wait %t : !dist.token<tensor<2x8xf32, #done>>
  return %z : tensor<2x8xf32, #done>
}
