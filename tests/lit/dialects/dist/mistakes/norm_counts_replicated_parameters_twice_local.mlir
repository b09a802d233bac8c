// RUN: weft-opt %s --split-input-file --verify-diagnostics
// The same in a rank's own program: a value that is whole everywhere is not summed over the ranks.

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
func.func @wrong(%b: tensor<f64, #dist.local<#mesh, scalar>>) {
  // expected-error @+1 {{expects a pending sum over [t0], its placement is (replicated)}}
  %t = dist.all_reduce.start sum %b over ["t0"] : tensor<f64, #dist.local<#mesh, scalar>> -> !dist.token<tensor<f64, #dist.local<#mesh, scalar>>>
  %y = dist.wait %t : !dist.token<tensor<f64, #dist.local<#mesh, scalar>>>
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
#terms = #dist.local<#mesh, scalar, sum [t0]>
func.func @right(%a: tensor<f64, #terms>, %b: tensor<f64, #dist.local<#mesh, scalar>>) -> tensor<f64, #dist.local<#mesh, scalar>> {
  %one = dist.keep_first %b over ["t0"] : tensor<f64, #dist.local<#mesh, scalar>> -> tensor<f64, #terms>
  %c = nn.add %a, %one : tensor<f64, #terms>
  %t = dist.all_reduce.start sum %c over ["t0"] : tensor<f64, #terms> -> !dist.token<tensor<f64, #dist.local<#mesh, scalar>>>
  %y = dist.wait %t : !dist.token<tensor<f64, #dist.local<#mesh, scalar>>>
  return %y : tensor<f64, #dist.local<#mesh, scalar>>
}
