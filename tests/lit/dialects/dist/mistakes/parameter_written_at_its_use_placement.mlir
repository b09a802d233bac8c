// RUN: weft-opt %s --split-input-file --verify-diagnostics
// The new value of a parameter goes to its storage, not to where layers use it.

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
nn.parameter @w : tensor<8xf32, #dist.at<#mesh, [d0]>> constant
nn.step @wrong microbatches(1) inputs([])
  prepare { nn.yield }
  microbatch { nn.carry [] [] }
  update {
    %w = nn.read @w : tensor<8xf32, #dist.at<#mesh, [d0]>>
    %all = dist.reshard %w : tensor<8xf32, #dist.at<#mesh, [d0]>> -> tensor<8xf32, #dist.at<#mesh, []>>
    // expected-error @+1 {{writes @w at [], it is stored at [d0]. Reshard the value to that first}}
    nn.write @w, %all : tensor<8xf32, #dist.at<#mesh, []>>
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
    %part = dist.reshard %all : tensor<8xf32, #dist.at<#mesh, []>> -> tensor<8xf32, #dist.at<#mesh, [d0]>>
    nn.write @w, %part : tensor<8xf32, #dist.at<#mesh, [d0]>>
    nn.yield }
