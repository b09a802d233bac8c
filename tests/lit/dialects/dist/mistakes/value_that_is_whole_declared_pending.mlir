// RUN: weft-opt %s --split-input-file --verify-diagnostics
// The opposite of a forgotten reduction: a type promises terms where every rank has all of it, and the reduction that the
// type asks for counts the value once per rank.

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
func.func @wrong(%x: tensor<4x8xf32, #dist.at<#mesh, [], []>>, %w: tensor<8x6xf32, #dist.at<#mesh, [], []>>) {
  // expected-error @+1 {{gives a result whose sum over [t0] is not pending, as its type says: a reduction would count it 2 times. It is [] []}}
  %y = nn.einsum "bf,fh->bh" (%x, %w) : (tensor<4x8xf32, #dist.at<#mesh, [], []>>, tensor<8x6xf32, #dist.at<#mesh, [], []>>) -> tensor<4x6xf32, #dist.at<#mesh, [], [], sum [t0]>>
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
func.func @right(%x: tensor<4x8xf32, #dist.at<#mesh, [], []>>, %w: tensor<8x6xf32, #dist.at<#mesh, [], []>>) -> tensor<4x6xf32, #dist.at<#mesh, [], []>> {
  %y = nn.einsum "bf,fh->bh" (%x, %w) : (tensor<4x8xf32, #dist.at<#mesh, [], []>>, tensor<8x6xf32, #dist.at<#mesh, [], []>>) -> tensor<4x6xf32, #dist.at<#mesh, [], []>>
  return %y : tensor<4x6xf32, #dist.at<#mesh, [], []>>
}
