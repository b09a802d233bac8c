// What a placement refuses, by itself and as the encoding of a type.
// RUN: weft-opt %s --split-input-file --verify-diagnostics

#mesh = #dist.mesh<d0 = 2, t0 = 2>
// expected-error @+1 {{the mesh has no axis p0}}
func.func @f(%x: tensor<4x8xf32, #dist.at<#mesh, [p0], []>>) { return }

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2>
// expected-error @+1 {{placement names the axis d0 twice}}
func.func @f(%x: tensor<4x8xf32, #dist.at<#mesh, [d0], [d0]>>) { return }

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2>
// expected-error @+1 {{placement names the axis t0 twice}}
func.func @f(%x: tensor<4x8xf32, #dist.at<#mesh, [t0], [], sum [t0]>>) { return }

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2>
// expected-error @+1 {{placement names the axis t0 twice}}
func.func @f(%x: tensor<4x8xf32, #dist.at<#mesh, [], [], sum [t0], max [t0]>>) { return }

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2>
// expected-error @+1 {{the lists of dimensions come before sum, max, lse and tree}}
func.func @f(%x: tensor<4x8xf32, #dist.at<#mesh, [], sum [t0], []>>) { return }

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2>
// expected-error @+1 {{expects one list of pending axes, which is not empty}}
func.func @f(%x: tensor<4x8xf32, #dist.at<#mesh, [], [], sum []>>) { return }

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2>
// expected-error @+1 {{expects one list of axes per dimension: placement [d0] for 2 dimensions}}
func.func @f(%x: tensor<4x8xf32, #dist.at<#mesh, [d0]>>) { return }

// -----

#mesh = #dist.mesh<d0 = 2, c0 = 2>
// expected-error @+1 {{zigzag over [c0] does not divide dimension 1 (6); a multiple of 4 does}}
func.func @f(%x: tensor<4x6xf32, #dist.at<#mesh, [d0], zigzag [c0]>>) { return }

// -----

#mesh = #dist.mesh<c0 = 2, d0 = 2>
// expected-error @+1 {{zigzag of dimension 1, which no axis splits}}
func.func @f(%x: tensor<4x6xf32, #dist.at<#mesh, [d0], zigzag []>>) { return }

// -----

#mesh = #dist.mesh<d0 = 2>
// expected-error @+1 {{i1 has no sum; nn.cast makes it an integer}}
func.func @f(%x: tensor<4xi1, #dist.at<#mesh, [], sum [d0]>>) { return }

// -----

#mesh = #dist.mesh<d0 = 2>
// expected-error @+1 {{i1 has no sum; nn.cast makes it an integer}}
func.func @f(%x: tensor<4xi1, #dist.local<#mesh, 4, [], sum [d0]>>) { return }

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2>
// expected-error @+1 {{expects one list of axes per dimension: placement [d0] for 2 dimensions}}
func.func @f(%x: tensor<2x8xf32, #dist.local<#mesh, 4x8, [d0]>>) { return }

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2>
// expected-error @+1 {{expects the part of a rank, 2x4, of the whole 4x8 at [d0] [t0]}}
func.func @f(%x: tensor<4x8xf32, #dist.local<#mesh, 4x8, [d0], [t0]>>) { return }
