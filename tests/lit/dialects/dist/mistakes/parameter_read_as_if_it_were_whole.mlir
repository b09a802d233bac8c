// RUN: weft-opt %s --split-input-file --verify-diagnostics
// A rank has its part of a parameter; reading does not communicate.

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
nn.parameter @w : tensor<8xf32, #dist.at<#mesh, [d0]>> constant
nn.step @wrong microbatches(1) inputs([])
  prepare { nn.yield }
  microbatch { nn.carry [] [] }
  update {
    // expected-error @+1 {{reads @w at [], it is stored at [d0]. Read it there and reshard what was read}}
    %w = nn.read @w : tensor<8xf32, #dist.at<#mesh, []>>
    nn.yield }

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
nn.parameter @w : tensor<8xf32, #dist.at<#mesh, [d0]>> constant
nn.step @right microbatches(1) inputs([])
  prepare { nn.yield }
  microbatch { nn.carry [] [] }
  update {
    %w = nn.read @w : tensor<8xf32, #dist.at<#mesh, [d0]>>
    %all = dist.reshard %w : tensor<8xf32, #dist.at<#mesh, [d0]>> -> tensor<8xf32, #dist.at<#mesh, []>>
    nn.yield }
