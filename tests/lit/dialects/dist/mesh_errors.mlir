// What a mesh refuses, and where a module may say one.
// RUN: weft-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{mesh has the axis d0 twice}}
#mesh = #dist.mesh<d0 = 2, d0 = 2>

// -----

// expected-error @+1 {{mesh axis d0 has size 0; at least 1}}
#mesh = #dist.mesh<d0 = 0>

// -----

// expected-error @+1 {{mesh has more than 2^31 ranks}}
#mesh = #dist.mesh<a = 65536, b = 65536>

// -----

// expected-error @+1 {{the mesh has no axis t0}}
#mesh = #dist.mesh<d0 = 2 : tensor = [t0]>

// -----

// expected-error @+1 {{mesh has the role "data" twice}}
#mesh = #dist.mesh<d0 = 2 : data = [d0], data = [d0]>

// -----

// expected-error @+1 {{'builtin.module' op has dist.mesh = 4 : i64; a module says its mesh so, with #dist.mesh}}
module attributes {dist.mesh = 4} {}

// -----

// expected-error @+1 {{'builtin.module' op has the attribute "dist.meshes", which means nothing. Known are dist.mesh, dist.zero, dist.use, dist.at, dist.inputs, dist.storage, dist.reason, dist.placement}}
module attributes {dist.meshes = #dist.mesh<d0 = 2>} {}

// -----

#mesh = #dist.mesh<d0 = 2>
// expected-error @+1 {{'func.func' op has the attribute "dist.in", which means nothing. Known are dist.mesh, dist.zero, dist.use, dist.at, dist.inputs, dist.storage, dist.reason, dist.placement}}
func.func @f(%x: tensor<4xf32> {dist.in = #dist.at<#mesh, [d0]>}) { return }

// -----

// A rank is a point: the last axis varies fastest. One rank is a mesh too, and so is an axis of size one.
#one = #dist.mesh<>
#mesh = #dist.mesh<d0 = 1 : data = [d0], tensor = []>
func.func @f(%x: tensor<4xf32, #dist.at<#one, []>>, %y: tensor<4xf32, #dist.at<#mesh, [d0]>>) { return }
