// dist.reshard changes the placement alone, in the global view, and makes no maximum and no sum of what is split.
// RUN: weft-opt %s --split-input-file --verify-diagnostics

#mesh = #dist.mesh<d0 = 2, t0 = 2>
func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'dist.reshard' op expects two global types with placements, got 'tensor<4x8xf32>' and 'tensor<4x8xf32>' at [d0] []}}
  %y = dist.reshard %x : tensor<4x8xf32> -> tensor<4x8xf32, #dist.at<#mesh, [d0], []>>
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2>
func.func @f(%x: tensor<2x8xf32, #dist.local<#mesh, 4x8, [d0], []>>) {
  // expected-error @+1 {{'dist.reshard' op expects two global types with placements, got 'tensor<2x8xf32>', the part of 4x8 at [d0] [] and 'tensor<4x8xf32>', the part of 4x8 at [] []}}
  %y = dist.reshard %x : tensor<2x8xf32, #dist.local<#mesh, 4x8, [d0], []>> -> tensor<4x8xf32, #dist.local<#mesh, 4x8, [], []>>
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2>
func.func @f(%x: tensor<4x8xf32, #dist.at<#mesh, [], []>>) {
  // expected-error @+1 {{'dist.reshard' op changes the placement alone, got 'tensor<4x8xf32>' at [] [] -> 'tensor<8x4xf32>' at [d0] []}}
  %y = dist.reshard %x : tensor<4x8xf32, #dist.at<#mesh, [], []>> -> tensor<8x4xf32, #dist.at<#mesh, [d0], []>>
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2>
func.func @f(%x: tensor<4x8xf32, #dist.at<#mesh, [], []>>) {
  // expected-error @+1 {{'dist.reshard' op changes the placement alone, got 'tensor<4x8xf32>' at [] [] -> 'tensor<4x8xbf16>' at [d0] []}}
  %y = dist.reshard %x : tensor<4x8xf32, #dist.at<#mesh, [], []>> -> tensor<4x8xbf16, #dist.at<#mesh, [d0], []>>
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2>
#other = #dist.mesh<d0 = 4>
func.func @f(%x: tensor<4x8xf32, #dist.at<#mesh, [], []>>) {
  // expected-error @+1 {{'dist.reshard' op expects one mesh}}
  %y = dist.reshard %x : tensor<4x8xf32, #dist.at<#mesh, [], []>> -> tensor<4x8xf32, #dist.at<#other, [d0], []>>
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2>
func.func @f(%x: tensor<4x8xf32, #dist.at<#mesh, [], []>>) {
  // expected-error @+1 {{'dist.reshard' op cannot make a pending maximum over [t0]}}
  %y = dist.reshard %x : tensor<4x8xf32, #dist.at<#mesh, [], []>> -> tensor<4x8xf32, #dist.at<#mesh, [], [], max [t0]>>
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2>
func.func @f(%x: tensor<4x8xf32, #dist.at<#mesh, [t0], []>>) {
  // expected-error @+1 {{'dist.reshard' op cannot make a pending sum over [t0] of a value that is not replicated over it: [t0] []}}
  %y = dist.reshard %x : tensor<4x8xf32, #dist.at<#mesh, [t0], []>> -> tensor<4x8xf32, #dist.at<#mesh, [], [], sum [t0]>>
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2>
func.func @f(%x: tensor<4x8xf32, #dist.at<#mesh, [], [], max [t0]>>) {
  // expected-error @+1 {{'dist.reshard' op cannot make a pending sum over [t0] of a value that is not replicated over it: [] [] max [t0]}}
  %y = dist.reshard %x : tensor<4x8xf32, #dist.at<#mesh, [], [], max [t0]>> -> tensor<4x8xf32, #dist.at<#mesh, [], [], sum [t0]>>
  return
}

// -----

// Everything else is allowed: reduce, split, gather, move, and keep on one rank.
#mesh = #dist.mesh<d0 = 2, t0 = 2>
func.func @f(%terms: tensor<4x8xf32, #dist.at<#mesh, [], [], sum [d0], max [t0]>>, %swap: tensor<4x8xf32, #dist.at<#mesh, [d0], [t0]>>, %all: tensor<4x8xf32, #dist.at<#mesh, [], []>>) {
  %0 = dist.reshard %terms : tensor<4x8xf32, #dist.at<#mesh, [], [], sum [d0], max [t0]>> -> tensor<4x8xf32, #dist.at<#mesh, [t0], [d0]>>
  %1 = dist.reshard %swap : tensor<4x8xf32, #dist.at<#mesh, [d0], [t0]>> -> tensor<4x8xf32, #dist.at<#mesh, [t0], [d0]>>
  %2 = dist.reshard %all : tensor<4x8xf32, #dist.at<#mesh, [], []>> -> tensor<4x8xf32, #dist.at<#mesh, [], [], sum [d0, t0]>>
  return
}
