// RUN: weft-opt %s --split-input-file --verify-diagnostics
// The output of a row-parallel projection goes on as if it were whole, in the global view and in a rank's own program.

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
func.func @wrong(%x: tensor<4x8xf32, #dist.at<#mesh, [], [t0]>>, %w: tensor<8x6xf32, #dist.at<#mesh, [t0], []>>) {
  // expected-error @+1 {{gives a result whose sum over [t0] is pending, its type says [] [] instead of [] [] sum [t0]. dist.reshard takes the sum}}
  %y = nn.einsum "bf,fh->bh" (%x, %w) : (tensor<4x8xf32, #dist.at<#mesh, [], [t0]>>, tensor<8x6xf32, #dist.at<#mesh, [t0], []>>) -> tensor<4x6xf32, #dist.at<#mesh, [], []>>
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
func.func @wrong_local(%x: tensor<4x4xf32, #dist.local<#mesh, 4x8, [], [t0]>>, %w: tensor<4x6xf32, #dist.local<#mesh, 8x6, [t0], []>>) {
  // expected-error @+1 {{gives a result whose sum over [t0] is pending, its type says [] [] instead of [] [] sum [t0]. dist.reshard takes the sum}}
  %y = nn.einsum "bf,fh->bh" (%x, %w) : (tensor<4x4xf32, #dist.local<#mesh, 4x8, [], [t0]>>, tensor<4x6xf32, #dist.local<#mesh, 8x6, [t0], []>>) -> tensor<4x6xf32, #dist.local<#mesh, 4x6, [], []>>
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
#terms = #dist.local<#mesh, 4x6, [], [], sum [t0]>
#done = #dist.local<#mesh, 4x6, [], []>
func.func @right_local(%x: tensor<4x4xf32, #dist.local<#mesh, 4x8, [], [t0]>>, %w: tensor<4x6xf32, #dist.local<#mesh, 8x6, [t0], []>>) -> tensor<4x6xf32, #done> {
  %y = nn.einsum "bf,fh->bh" (%x, %w) : (tensor<4x4xf32, #dist.local<#mesh, 4x8, [], [t0]>>, tensor<4x6xf32, #dist.local<#mesh, 8x6, [t0], []>>) -> tensor<4x6xf32, #terms>
  %t = dist.all_reduce.start sum %y over ["t0"] : tensor<4x6xf32, #terms> -> !dist.token<tensor<4x6xf32, #done>>
  %z = dist.wait %t : !dist.token<tensor<4x6xf32, #done>>
  return %z : tensor<4x6xf32, #done>
}
