// RUN: weft-opt %s --split-input-file --verify-diagnostics
// With the vocabulary split, a rank finds the rows that it has and zeros for the others; the sum over ranks is the lookup.

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
func.func @wrong(%e: tensor<10x8xf32, #dist.at<#mesh, [t0], []>>, %ids: tensor<4xi32, #dist.at<#mesh, [d0]>>) {
  // expected-error @+1 {{gives a result whose sum over [t0] is pending, its type says [d0] [] instead of [d0] [] sum [t0]. dist.reshard takes the sum}}
  %x = nn.gather %e, %ids : (tensor<10x8xf32, #dist.at<#mesh, [t0], []>>, tensor<4xi32, #dist.at<#mesh, [d0]>>) -> tensor<4x8xf32, #dist.at<#mesh, [d0], []>>
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
#terms = #dist.at<#mesh, [d0], [], sum [t0]>
func.func @right(%e: tensor<10x8xf32, #dist.at<#mesh, [t0], []>>, %ids: tensor<4xi32, #dist.at<#mesh, [d0]>>) -> tensor<4x8xf32, #dist.at<#mesh, [d0], []>> {
  %x = nn.gather %e, %ids : (tensor<10x8xf32, #dist.at<#mesh, [t0], []>>, tensor<4xi32, #dist.at<#mesh, [d0]>>) -> tensor<4x8xf32, #terms>
  %sum = dist.reshard %x : tensor<4x8xf32, #terms> -> tensor<4x8xf32, #dist.at<#mesh, [d0], []>>
  return %sum : tensor<4x8xf32, #dist.at<#mesh, [d0], []>>
}
