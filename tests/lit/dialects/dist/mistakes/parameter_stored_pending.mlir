// RUN: weft-opt %s --split-input-file --verify-diagnostics
// Between steps a parameter is whole or split: terms of it would go into a checkpoint as if each were all.

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
// expected-error @+1 {{'nn.parameter' op is stored at [] sum [d0]: a variable is whole or split between steps, nothing of it is pending}}
nn.parameter @w : tensor<8xf32, #dist.at<#mesh, [], sum [d0]>> constant

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
nn.parameter @w : tensor<8xf32, #dist.at<#mesh, [d0]>> constant
