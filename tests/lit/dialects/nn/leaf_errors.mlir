// RUN: weft-opt %s --split-input-file --verify-diagnostics
// A leaf of the canonical sum is one term on each data rank, and a tree folds leaves alone.

#mesh = #dist.mesh<d0 = 2 : data = [d0]>
func.func @whole(%x: tensor<8xf32, #dist.at<#mesh, []>>) {
  // expected-error @+1 {{expects a value that is a pending sum over the data axes [d0] alone, one leaf on each data rank, got []}}
  %y = nn.leaf %x : tensor<8xf32, #dist.at<#mesh, []>> -> tensor<8xf32, #dist.at<#mesh, []>>
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
func.func @tensor(%x: tensor<8xf32, #dist.at<#mesh, [], sum [d0, t0]>>) {
  // expected-error @+1 {{expects a value that is a pending sum over the data axes [d0] alone, one leaf on each data rank, got [] sum [d0, t0]}}
  %y = nn.leaf %x : tensor<8xf32, #dist.at<#mesh, [], sum [d0, t0]>> -> tensor<8xf32, #dist.at<#mesh, [], tree [d0, t0]>>
  return
}

// -----

#mesh = #dist.mesh<d0 = 2 : data = [d0]>
func.func @forgotten(%x: tensor<8xf32, #dist.at<#mesh, [], sum [d0]>>) {
  // expected-error @+1 {{gives result 0, whose tree over [d0] is pending, its type says [] instead of [] tree [d0]. dist.reshard takes it}}
  %y = nn.leaf %x : tensor<8xf32, #dist.at<#mesh, [], sum [d0]>> -> tensor<8xf32, #dist.at<#mesh, []>>
  return
}

// -----

func.func @converted(%x: tensor<8xf32>) {
  // expected-error @+1 {{is an identity, got 'tensor<8xf32>' -> 'tensor<8xf64>'}}
  %y = nn.leaf %x : tensor<8xf32> -> tensor<8xf64>
  return
}

// -----

nn.step @count microbatches(2) inputs(["x"])
  prepare { ^bb0(%x: tensor<2xi32>): nn.yield }
  microbatch { ^bb0(%x: tensor<i32>):
    // expected-error @+1 {{folds 'tensor<i32>' by tree, which says how floats are rounded; integers are exact by sum}}
    nn.carry ["n"] ["tree"] %x : tensor<i32> }
  update { ^bb0(%n: tensor<i32>): nn.yield ["n"] %n : tensor<i32> }

// -----

// A gradient that each microbatch reduces has leaves of one microbatch added first, which are no neighbors in the tree.
#mesh = #dist.mesh<d0 = 2 : data = [d0]>
nn.step @reduced microbatches(2) inputs(["x"])
  prepare { ^bb0(%x: tensor<2x4xf32, #dist.at<#mesh, [], [d0]>>): nn.yield }
  microbatch { ^bb0(%x: tensor<4xf32, #dist.at<#mesh, [d0]>>):
    %s = nn.reduce sum %x [0] : tensor<4xf32, #dist.at<#mesh, [d0]>> -> tensor<f32, #dist.at<#mesh, sum [d0]>>
    %r = dist.reshard %s : tensor<f32, #dist.at<#mesh, sum [d0]>> -> tensor<f32, #dist.at<#mesh>>
    // expected-error @+1 {{folds by tree a value that is no leaf of every data rank: it is (replicated) instead of a pending tree over [d0]. nn.leaf makes one of a pending sum, whose reduction waits for update}}
    nn.carry ["s"] ["tree"] %r : tensor<f32, #dist.at<#mesh>> }
  update { ^bb0(%s: tensor<f32, #dist.at<#mesh>>): nn.yield ["s"] %s : tensor<f32, #dist.at<#mesh>> }

// -----

#mesh = #dist.mesh<d0 = 2 : data = [d0]>
nn.step @plain microbatches(2) inputs(["x"])
  prepare { ^bb0(%x: tensor<2x4xf32, #dist.at<#mesh, [], [d0]>>): nn.yield }
  microbatch { ^bb0(%x: tensor<4xf32, #dist.at<#mesh, [d0]>>):
    %s = nn.reduce sum %x [0] : tensor<4xf32, #dist.at<#mesh, [d0]>> -> tensor<f32, #dist.at<#mesh, sum [d0]>>
    %l = nn.leaf %s : tensor<f32, #dist.at<#mesh, sum [d0]>> -> tensor<f32, #dist.at<#mesh, tree [d0]>>
    // expected-error @+1 {{folds with sum a value that is pending otherwise: tree [d0]. Reshard it first}}
    nn.carry ["s"] ["sum"] %l : tensor<f32, #dist.at<#mesh, tree [d0]>> }
  update { ^bb0(%s: tensor<f32, #dist.at<#mesh, tree [d0]>>): nn.yield ["s"] %s : tensor<f32, #dist.at<#mesh, tree [d0]>> }

// -----

func.func @rows(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expects rows to be a dimension below the rank (2), got 2}}
  %y = nn.squared_norm %x rows 2 : tensor<4x8xf32> -> tensor<4xf64>
  return
}

// -----

func.func @rows_of_another(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expects one number for each of 8 rows, got 'tensor<4xf64>'}}
  %y = nn.squared_norm %x rows 1 : tensor<4x8xf32> -> tensor<4xf64>
  return
}

// -----

// A row is summed where it is whole.
#mesh = #dist.mesh<d0 = 2 : data = [d0]>
func.func @row_in_parts(%x: tensor<4x8xf32, #dist.at<#mesh, [], [d0]>>) {
  // expected-error @+1 {{needs dimension 1 of operand 0 whole, it is split over [d0]. Reshard it first, or split another dimension}}
  %y = nn.squared_norm %x rows 0 : tensor<4x8xf32, #dist.at<#mesh, [], [d0]>> -> tensor<4xf64, #dist.at<#mesh, []>>
  return
}
