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
