// RUN: weft-opt %s --split-input-file --weft-place --verify-diagnostics
// Seeds that are no placements of what they stand at.

#mesh = #dist.mesh<d0 = 2>
module attributes {dist.mesh = #mesh} {
  // expected-error-re @+1 {{'nn.parameter' op has dist.storage {{.*}}, which is no placement on the mesh for 'tensor<4x8xf32>': one list of axes per dimension, nothing pending}}
  nn.parameter @w : tensor<4x8xf32> constant {dist.storage = #dist.at<#mesh, [d0]>}
}

// -----

#mesh = #dist.mesh<d0 = 2>
module attributes {dist.mesh = #mesh} {
  // expected-error-re @+1 {{'nn.parameter' op has dist.use {{.*}}, which is no placement on the mesh for 'tensor<4xf32>': one list of axes per dimension, nothing pending}}
  nn.parameter @w : tensor<4xf32> constant {dist.use = #dist.at<#mesh, [], sum [d0]>}
}

// -----

#mesh = #dist.mesh<d0 = 2>
module attributes {dist.mesh = #mesh} {
  // expected-error @+1 {{'nn.step' op has 1 placements in dist.inputs for 2 inputs}}
  nn.step @train microbatches(1) inputs(["x", "y"]) attributes {dist.inputs = [#dist.at<#mesh, []>]}
    prepare { ^bb0(%x: tensor<4xf32>, %y: tensor<4xf32>): nn.yield }
    microbatch { ^bb0(%x: tensor<4xf32>, %y: tensor<4xf32>): nn.carry [] [] }
    update { nn.yield }
}

// -----

#mesh = #dist.mesh<c0 = 2>
module attributes {dist.mesh = #mesh} {
  // expected-error @+1 {{'nn.parameter' op is placed at zigzag [c0] []; zigzag is for activations, the parts of variables are contiguous}}
  nn.parameter @w : tensor<4x8xf32> constant {dist.storage = #dist.at<#mesh, zigzag [c0], []>}
}

// -----

#mesh = #dist.mesh<c0 = 2>
module attributes {dist.mesh = #mesh} {
  // expected-error @+1 {{'func.func' op has dist.at of 'tensor<6xf32>': zigzag over [c0] does not divide dimension 0 (6); a multiple of 4 does}}
  func.func @f(%x: tensor<6xf32> {dist.at = #dist.at<#mesh, zigzag [c0]>}) { return }
}

// -----

// Without positions a part of the queries is not known to be one.
#mesh = #dist.mesh<c0 = 2>
module attributes {dist.mesh = #mesh} {
  func.func @f(%q: tensor<2x8x4x4xf32>) {
    // expected-error @+1 {{'nn.attention' op cannot be at [] [c0] [] []: heads are split in whole groups, then within groups; queries where they know their positions}}
    %o, %lse = nn.attention %q, %q, %q {scale = 0.5, dist.at = #dist.at<#mesh, [], [c0], [], []>} : (tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>) -> (tensor<2x8x4x4xf32>, tensor<2x4x8xf32>)
    return
  }
}
