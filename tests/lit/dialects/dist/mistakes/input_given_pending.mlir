// RUN: weft-opt %s --split-input-file --verify-diagnostics
// A loader gives every rank its samples; there is nothing to add up.

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
// expected-error @+1 {{'nn.step' op has the input "x" at [] sum [d0]: inputs are whole or split, nothing of them is pending}}
nn.step @wrong microbatches(1) inputs(["x"])
  prepare { ^bb0(%x: tensor<8xf32, #dist.at<#mesh, [], sum [d0]>>): nn.yield }
  microbatch { ^bb0(%x: tensor<8xf32, #dist.at<#mesh, [], sum [d0]>>): nn.carry [] [] }
  update { nn.yield }

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
nn.step @right microbatches(1) inputs(["x"])
  prepare { ^bb0(%x: tensor<8xf32, #dist.at<#mesh, [d0]>>): nn.yield }
  microbatch { ^bb0(%x: tensor<8xf32, #dist.at<#mesh, [d0]>>): nn.carry [] [] }
  update { nn.yield }
