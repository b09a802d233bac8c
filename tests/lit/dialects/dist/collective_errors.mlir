// What collectives refuse: another group, dimension, order or result than the operand's placement allows.
// RUN: weft-opt %s --split-input-file --verify-diagnostics

#mesh = #dist.mesh<d0 = 2, t0 = 2, t1 = 3>
func.func @f(%x: tensor<12x8xf32, #dist.at<#mesh, [d0], []>>) {
  // expected-error @+1 {{'dist.all_gather.start' op expects the part of a rank (#dist.local), got 'tensor<12x8xf32>' at [d0] []; in the global view dist.reshard changes placements}}
  %t = dist.all_gather.start %x over ["d0"] dim 0 : tensor<12x8xf32, #dist.at<#mesh, [d0], []>> -> !dist.token<tensor<12x8xf32, #dist.at<#mesh, [], []>>>
  %y = dist.wait %t : !dist.token<tensor<12x8xf32, #dist.at<#mesh, [], []>>>
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2, t1 = 3>
func.func @f(%x: tensor<6x8xf32, #dist.local<#mesh, 12x8, [d0], []>>) {
  // expected-error @+1 {{'dist.all_gather.start' op names an axis "p0" that the mesh does not have}}
  %t = dist.all_gather.start %x over ["p0"] dim 0 : tensor<6x8xf32, #dist.local<#mesh, 12x8, [d0], []>> -> !dist.token<tensor<12x8xf32, #dist.local<#mesh, 12x8, [], []>>>
  %y = dist.wait %t : !dist.token<tensor<12x8xf32, #dist.local<#mesh, 12x8, [], []>>>
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2, t1 = 3>
func.func @f(%x: tensor<6x8xf32, #dist.local<#mesh, 12x8, [d0], []>>) {
  // expected-error @+1 {{'dist.all_gather.start' op names the axis "d0" twice}}
  %t = dist.all_gather.start %x over ["d0", "d0"] dim 0 : tensor<6x8xf32, #dist.local<#mesh, 12x8, [d0], []>> -> !dist.token<tensor<12x8xf32, #dist.local<#mesh, 12x8, [], []>>>
  %y = dist.wait %t : !dist.token<tensor<12x8xf32, #dist.local<#mesh, 12x8, [], []>>>
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2, t1 = 3>
func.func @f(%x: tensor<6x8xf32, #dist.local<#mesh, 12x8, [d0], []>>) {
  // expected-error @+1 {{'dist.all_gather.start' op expects at least one axis}}
  %t = dist.all_gather.start %x over [] dim 0 : tensor<6x8xf32, #dist.local<#mesh, 12x8, [d0], []>> -> !dist.token<tensor<12x8xf32, #dist.local<#mesh, 12x8, [], []>>>
  %y = dist.wait %t : !dist.token<tensor<12x8xf32, #dist.local<#mesh, 12x8, [], []>>>
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2, t1 = 3>
func.func @f(%x: tensor<6x8xf32, #dist.local<#mesh, 12x8, [d0], []>>) {
  // expected-error @+1 {{'dist.all_gather.start' op expects a dimension below the rank (2), got 2}}
  %t = dist.all_gather.start %x over ["d0"] dim 2 : tensor<6x8xf32, #dist.local<#mesh, 12x8, [d0], []>> -> !dist.token<tensor<12x8xf32, #dist.local<#mesh, 12x8, [], []>>>
  %y = dist.wait %t : !dist.token<tensor<12x8xf32, #dist.local<#mesh, 12x8, [], []>>>
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2, t1 = 3>
func.func @f(%x: tensor<6x8xf32, #dist.local<#mesh, 12x8, [d0], []>>) {
  // expected-error @+1 {{'dist.all_gather.start' op expects dimension 1 to be split last over [d0], its placement is [d0] []}}
  %t = dist.all_gather.start %x over ["d0"] dim 1 : tensor<6x8xf32, #dist.local<#mesh, 12x8, [d0], []>> -> !dist.token<tensor<12x8xf32, #dist.local<#mesh, 12x8, [], []>>>
  %y = dist.wait %t : !dist.token<tensor<12x8xf32, #dist.local<#mesh, 12x8, [], []>>>
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2, t1 = 3>
func.func @f(%x: tensor<3x8xf32, #dist.local<#mesh, 12x8, [d0, t0], []>>) {
  // expected-error @+1 {{'dist.all_gather.start' op expects dimension 0 to be split last over [t0, d0], its placement is [d0, t0] []}}
  %t = dist.all_gather.start %x over ["t0", "d0"] dim 0 : tensor<3x8xf32, #dist.local<#mesh, 12x8, [d0, t0], []>> -> !dist.token<tensor<12x8xf32, #dist.local<#mesh, 12x8, [], []>>>
  %y = dist.wait %t : !dist.token<tensor<12x8xf32, #dist.local<#mesh, 12x8, [], []>>>
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2, t1 = 3>
func.func @f(%x: tensor<4x8xf32, #dist.local<#mesh, 16x8, zigzag [d0, t0], []>>) {
  // What is left of a zigzag is one.
  // expected-error @+1 {{'dist.all_gather.start' op gives 'tensor<8x8xf32>', the part of 16x8 at zigzag [d0] []; its type says 'tensor<8x8xf32>', the part of 16x8 at [d0] []}}
  %t = dist.all_gather.start %x over ["t0"] dim 0 : tensor<4x8xf32, #dist.local<#mesh, 16x8, zigzag [d0, t0], []>> -> !dist.token<tensor<8x8xf32, #dist.local<#mesh, 16x8, [d0], []>>>
  %y = dist.wait %t : !dist.token<tensor<8x8xf32, #dist.local<#mesh, 16x8, [d0], []>>>
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2, t1 = 3>
func.func @f(%x: tensor<8x8xf32, #dist.local<#mesh, 16x8, [d0], []>>) {
  // A dimension that is split already is split on in the same way.
  // expected-error @+1 {{'dist.slice' op gives 'tensor<4x8xf32>', the part of 16x8 at [d0, t0] []; its type says 'tensor<4x8xf32>', the part of 16x8 at zigzag [d0, t0] []}}
  %y = dist.slice %x over ["t0"] dim 0 : tensor<8x8xf32, #dist.local<#mesh, 16x8, [d0], []>> -> tensor<4x8xf32, #dist.local<#mesh, 16x8, zigzag [d0, t0], []>>
  return
}

// -----

// The result is what the placement leaves: still the part of t1.
#mesh = #dist.mesh<d0 = 2, t0 = 2, t1 = 3>
func.func @f(%x: tensor<6x3xf32, #dist.local<#mesh, 12x8, [d0], [t1]>>) {
  // expected-error @+1 {{'dist.all_gather.start' op gives 'tensor<12x3xf32>', the part of 12x8 at [] [t1]; its type says 'tensor<12x8xf32>', the part of 12x8 at [] []}}
  %t = dist.all_gather.start %x over ["d0"] dim 0 : tensor<6x3xf32, #dist.local<#mesh, 12x8, [d0], [t1]>> -> !dist.token<tensor<12x8xf32, #dist.local<#mesh, 12x8, [], []>>>
  %y = dist.wait %t : !dist.token<tensor<12x8xf32, #dist.local<#mesh, 12x8, [], []>>>
  return
}

// -----

// Ten rows over 2 x 2 are 3, 2, 3, 2: no one gather of four equal parts puts them together.
#mesh = #dist.mesh<d0 = 2, t0 = 2, t1 = 3>
func.func @f(%x: tensor<3xf32, #dist.local<#mesh, 10, [d0, t0]>>) {
  // expected-error @+1 {{'dist.all_gather.start' op goes over [d0, t0] at once, which does not divide dimension 0 (10) evenly: one axis after another}}
  %t = dist.all_gather.start %x over ["d0", "t0"] dim 0 : tensor<3xf32, #dist.local<#mesh, 10, [d0, t0]>> -> !dist.token<tensor<10xf32, #dist.local<#mesh, 10, []>>>
  %y = dist.wait %t : !dist.token<tensor<10xf32, #dist.local<#mesh, 10, []>>>
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2, t1 = 3>
func.func @f(%x: tensor<12x8xf32, #dist.local<#mesh, 12x8, [], []>>) {
  // expected-error @+1 {{'dist.all_reduce.start' op expects a pending sum over [d0], its placement is [] []}}
  %t = dist.all_reduce.start sum %x over ["d0"] : tensor<12x8xf32, #dist.local<#mesh, 12x8, [], []>> -> !dist.token<tensor<12x8xf32, #dist.local<#mesh, 12x8, [], []>>>
  %y = dist.wait %t : !dist.token<tensor<12x8xf32, #dist.local<#mesh, 12x8, [], []>>>
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2, t1 = 3>
func.func @f(%x: tensor<12x8xf32, #dist.local<#mesh, 12x8, [], [], max [d0]>>) {
  // expected-error @+1 {{'dist.all_reduce.start' op expects a pending sum over [d0], its placement is [] [] max [d0]}}
  %t = dist.all_reduce.start sum %x over ["d0"] : tensor<12x8xf32, #dist.local<#mesh, 12x8, [], [], max [d0]>> -> !dist.token<tensor<12x8xf32, #dist.local<#mesh, 12x8, [], []>>>
  %y = dist.wait %t : !dist.token<tensor<12x8xf32, #dist.local<#mesh, 12x8, [], []>>>
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2, t1 = 3>
func.func @f(%x: tensor<12x8xf32, #dist.local<#mesh, 12x8, [], [], sum [d0]>>) {
  // expected-error @+1 {{'dist.all_reduce.start' op expects a pending max over [d0], its placement is [] [] sum [d0]}}
  %t = dist.all_reduce.start max %x over ["d0"] : tensor<12x8xf32, #dist.local<#mesh, 12x8, [], [], sum [d0]>> -> !dist.token<tensor<12x8xf32, #dist.local<#mesh, 12x8, [], []>>>
  %y = dist.wait %t : !dist.token<tensor<12x8xf32, #dist.local<#mesh, 12x8, [], []>>>
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2, t1 = 3>
func.func @f(%x: tensor<12x8xf32, #dist.local<#mesh, 12x8, [], [], sum [d0]>>) {
  // expected-error @+1 {{'dist.all_reduce.start' op expects a pending sum over [t0], its placement is [] [] sum [d0]}}
  %t = dist.all_reduce.start sum %x over ["d0", "t0"] : tensor<12x8xf32, #dist.local<#mesh, 12x8, [], [], sum [d0]>> -> !dist.token<tensor<12x8xf32, #dist.local<#mesh, 12x8, [], []>>>
  %y = dist.wait %t : !dist.token<tensor<12x8xf32, #dist.local<#mesh, 12x8, [], []>>>
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2, t1 = 3>
func.func @f(%x: tensor<12x8xf32, #dist.local<#mesh, 12x8, [], [], sum [d0, t0]>>) {
  // expected-error @+1 {{'dist.all_reduce.start' op gives 'tensor<12x8xf32>', the part of 12x8 at [] [] sum [t0]; its type says 'tensor<12x8xf32>', the part of 12x8 at [] []}}
  %t = dist.all_reduce.start sum %x over ["d0"] : tensor<12x8xf32, #dist.local<#mesh, 12x8, [], [], sum [d0, t0]>> -> !dist.token<tensor<12x8xf32, #dist.local<#mesh, 12x8, [], []>>>
  %y = dist.wait %t : !dist.token<tensor<12x8xf32, #dist.local<#mesh, 12x8, [], []>>>
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2, t1 = 3>
func.func @f(%x: tensor<12x8xf32, #dist.local<#mesh, 12x8, [], [], sum [d0]>>) {
  // expected-error @+1 {{'dist.reduce_scatter.start' op expects a pending sum over [t0], its placement is [] [] sum [d0]}}
  %t = dist.reduce_scatter.start sum %x over ["t0"] dim 0 : tensor<12x8xf32, #dist.local<#mesh, 12x8, [], [], sum [d0]>> -> !dist.token<tensor<6x8xf32, #dist.local<#mesh, 12x8, [d0], []>>>
  %y = dist.wait %t : !dist.token<tensor<6x8xf32, #dist.local<#mesh, 12x8, [d0], []>>>
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2, t1 = 3>
func.func @f(%x: tensor<12x8xf32, #dist.local<#mesh, 12x8, [], [], sum [d0]>>) {
  // expected-error @+1 {{'dist.reduce_scatter.start' op expects a dimension below the rank (2), got 5}}
  %t = dist.reduce_scatter.start sum %x over ["d0"] dim 5 : tensor<12x8xf32, #dist.local<#mesh, 12x8, [], [], sum [d0]>> -> !dist.token<tensor<6x8xf32, #dist.local<#mesh, 12x8, [d0], []>>>
  %y = dist.wait %t : !dist.token<tensor<6x8xf32, #dist.local<#mesh, 12x8, [d0], []>>>
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2, t1 = 3>
func.func @f(%x: tensor<12x8xf32, #dist.local<#mesh, 12x8, [], [], sum [d0]>>) {
  // expected-error @+1 {{'dist.reduce_scatter.start' op gives 'tensor<12x4xf32>', the part of 12x8 at [] [d0]; its type says 'tensor<6x8xf32>', the part of 12x8 at [d0] []}}
  %t = dist.reduce_scatter.start sum %x over ["d0"] dim 1 : tensor<12x8xf32, #dist.local<#mesh, 12x8, [], [], sum [d0]>> -> !dist.token<tensor<6x8xf32, #dist.local<#mesh, 12x8, [d0], []>>>
  %y = dist.wait %t : !dist.token<tensor<6x8xf32, #dist.local<#mesh, 12x8, [d0], []>>>
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2, t1 = 3>
func.func @f(%x: tensor<10xf32, #dist.local<#mesh, 10, [], sum [d0, t0]>>) {
  // expected-error @+1 {{'dist.reduce_scatter.start' op goes over [d0, t0] at once, which does not divide dimension 0 (10) evenly: one axis after another}}
  %t = dist.reduce_scatter.start sum %x over ["d0", "t0"] dim 0 : tensor<10xf32, #dist.local<#mesh, 10, [], sum [d0, t0]>> -> !dist.token<tensor<3xf32, #dist.local<#mesh, 10, [d0, t0]>>>
  %y = dist.wait %t : !dist.token<tensor<3xf32, #dist.local<#mesh, 10, [d0, t0]>>>
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2, t1 = 3>
func.func @f(%x: tensor<6x8xf32, #dist.local<#mesh, 12x8, [d0], []>>) {
  // expected-error @+1 {{'dist.all_to_all.start' op moves axes from one dimension to another, got 0 twice}}
  %t = dist.all_to_all.start %x over ["d0"] from 0 to 0 : tensor<6x8xf32, #dist.local<#mesh, 12x8, [d0], []>> -> !dist.token<tensor<6x8xf32, #dist.local<#mesh, 12x8, [d0], []>>>
  %y = dist.wait %t : !dist.token<tensor<6x8xf32, #dist.local<#mesh, 12x8, [d0], []>>>
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2, t1 = 3>
func.func @f(%x: tensor<6x8xf32, #dist.local<#mesh, 12x8, [d0], []>>) {
  // expected-error @+1 {{'dist.all_to_all.start' op expects dimension 1 to be split last over [d0], its placement is [d0] []}}
  %t = dist.all_to_all.start %x over ["d0"] from 1 to 0 : tensor<6x8xf32, #dist.local<#mesh, 12x8, [d0], []>> -> !dist.token<tensor<12x4xf32, #dist.local<#mesh, 12x8, [], [d0]>>>
  %y = dist.wait %t : !dist.token<tensor<12x4xf32, #dist.local<#mesh, 12x8, [], [d0]>>>
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2, t1 = 3>
func.func @f(%x: tensor<6x8xf32, #dist.local<#mesh, 12x8, [d0], []>>) {
  // expected-error @+1 {{'dist.all_to_all.start' op expects a dimension below the rank (2), got 3}}
  %t = dist.all_to_all.start %x over ["d0"] from 0 to 3 : tensor<6x8xf32, #dist.local<#mesh, 12x8, [d0], []>> -> !dist.token<tensor<12x4xf32, #dist.local<#mesh, 12x8, [], [d0]>>>
  %y = dist.wait %t : !dist.token<tensor<12x4xf32, #dist.local<#mesh, 12x8, [], [d0]>>>
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2, t1 = 3>
func.func @f(%x: tensor<6x8xf32, #dist.local<#mesh, 12x8, [d0], []>>) {
  // expected-error @+1 {{'dist.all_to_all.start' op gives 'tensor<12x4xf32>', the part of 12x8 at [] [d0]; its type says 'tensor<6x8xf32>', the part of 12x8 at [d0] []}}
  %t = dist.all_to_all.start %x over ["d0"] from 0 to 1 : tensor<6x8xf32, #dist.local<#mesh, 12x8, [d0], []>> -> !dist.token<tensor<6x8xf32, #dist.local<#mesh, 12x8, [d0], []>>>
  %y = dist.wait %t : !dist.token<tensor<6x8xf32, #dist.local<#mesh, 12x8, [d0], []>>>
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2, t1 = 3>
func.func @f(%x: tensor<6x8xf32, #dist.local<#mesh, 12x8, [d0], []>>) {
  %t = dist.all_gather.start %x over ["d0"] dim 0 : tensor<6x8xf32, #dist.local<#mesh, 12x8, [d0], []>> -> !dist.token<tensor<12x8xf32, #dist.local<#mesh, 12x8, [], []>>>
  // expected-error @+1 {{'dist.wait' op failed to verify that the result is what the token holds}}
  %y = "dist.wait"(%t) : (!dist.token<tensor<12x8xf32, #dist.local<#mesh, 12x8, [], []>>>) -> tensor<6x8xf32, #dist.local<#mesh, 12x8, [d0], []>>
  return
}
