// RUN: weft-opt %s --split-input-file --verify-diagnostics
// A pending tree is a sum whose additions are fixed: nothing may add otherwise, and nothing may look at its terms.

// expected-error @+1 {{a tree over d0 of 3 ranks has no halves: sizes that are powers of two have}}
func.func @three(%x: tensor<8xf32, #dist.at<#dist.mesh<d0 = 3>, [], tree [d0]>>) { return }

// -----

#mesh = #dist.mesh<d0 = 2 : data = [d0]>
// expected-error @+1 {{a tree fixes how additions are rounded, and those of 'i64' are exact: a plain sum is the same}}
func.func @integers(%x: tensor<8xi64, #dist.at<#mesh, [], tree [d0]>>) { return }

// -----

#mesh = #dist.mesh<d0 = 2 : data = [d0]>
func.func @made(%x: tensor<8xf32, #dist.at<#mesh, [], sum [d0]>>) {
  // expected-error @+1 {{cannot make a pending tree over [d0]: nn.leaf makes one of a pending sum}}
  %y = dist.reshard %x : tensor<8xf32, #dist.at<#mesh, [], sum [d0]>> -> tensor<8xf32, #dist.at<#mesh, [], tree [d0]>>
  return
}

// -----

#mesh = #dist.mesh<r0 = 2, d0 = 2 : data = [r0, d0]>
func.func @major(%x: tensor<8xf32, #dist.at<#mesh, [], tree [r0, d0]>>) {
  // expected-error @+1 {{reduces [r0] of a tree over [r0, d0]: the minor axes are its lower levels and come first, in their order}}
  %y = dist.reshard %x : tensor<8xf32, #dist.at<#mesh, [], tree [r0, d0]>> -> tensor<8xf32, #dist.at<#mesh, [], tree [d0]>>
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, d1 = 2 : data = [d0, d1]>
func.func @order(%x: tensor<8xf32, #dist.local<#mesh, 8, [], tree [d0, d1]>>) {
  // expected-error @+1 {{reduces [d1, d0] of a tree over [d0, d1]: the minor axes are its lower levels and come first, in their order}}
  %t = dist.all_reduce.start tree %x over ["d1", "d0"] : tensor<8xf32, #dist.local<#mesh, 8, [], tree [d0, d1]>> -> <tensor<8xf32, #dist.local<#mesh, 8, []>>>
  %y = dist.wait %t : <tensor<8xf32, #dist.local<#mesh, 8, []>>>
  return
}

// -----

#mesh = #dist.mesh<d0 = 2 : data = [d0]>
func.func @plain_fold(%x: tensor<8xf32, #dist.local<#mesh, 8, [], tree [d0]>>) {
  // expected-error @+1 {{expects a pending sum over [d0], its placement is [] tree [d0]}}
  %t = dist.all_reduce.start sum %x over ["d0"] : tensor<8xf32, #dist.local<#mesh, 8, [], tree [d0]>> -> <tensor<8xf32, #dist.local<#mesh, 8, []>>>
  %y = dist.wait %t : <tensor<8xf32, #dist.local<#mesh, 8, []>>>
  return
}

// -----

#mesh = #dist.mesh<d0 = 2 : data = [d0]>
func.func @plain_sum_by_tree(%x: tensor<8xf32, #dist.local<#mesh, 8, [], sum [d0]>>) {
  // expected-error @+1 {{expects a pending tree over [d0], its placement is [] sum [d0]}}
  %t = dist.reduce_scatter.start tree %x over ["d0"] dim 0 : tensor<8xf32, #dist.local<#mesh, 8, [], sum [d0]>> -> <tensor<4xf32, #dist.local<#mesh, 8, [d0]>>>
  %y = dist.wait %t : <tensor<4xf32, #dist.local<#mesh, 8, [d0]>>>
  return
}

// -----

#mesh = #dist.mesh<d0 = 2 : data = [d0]>
func.func @mixed(%x: tensor<8xf32, #dist.at<#mesh, [], tree [d0]>>, %y: tensor<8xf32, #dist.at<#mesh, [], sum [d0]>>) {
  // expected-error @+1 {{takes operand 0, whose tree over [d0] is pending: [] tree [d0]. An op on its terms would give other bits than one on the sum: reshard operand 0 first}}
  %z = nn.add %x, %y : (tensor<8xf32, #dist.at<#mesh, [], tree [d0]>>, tensor<8xf32, #dist.at<#mesh, [], sum [d0]>>) -> tensor<8xf32, #dist.at<#mesh, [], sum [d0]>>
  return
}
