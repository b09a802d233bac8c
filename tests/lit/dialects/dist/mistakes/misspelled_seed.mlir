// RUN: weft-opt %s --split-input-file --verify-diagnostics
// A placement written by hand under a name that nothing reads.

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
module attributes {dist.mesh = #mesh} {
  // expected-error @+1 {{'nn.parameter' op has the attribute "dist.storge", which means nothing. Known are dist.mesh, dist.zero, dist.use, dist.at, dist.inputs, dist.storage, dist.reason, dist.placement}}
  nn.parameter @w : tensor<8xf32> constant {dist.storge = #dist.at<#mesh, [d0]>}
}

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
module attributes {dist.mesh = #mesh} {
  nn.parameter @w : tensor<8xf32> constant {dist.storage = #dist.at<#mesh, [d0]>}
}
