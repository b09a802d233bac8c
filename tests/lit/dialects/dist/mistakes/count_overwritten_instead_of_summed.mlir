// RUN: weft-opt %s --split-input-file --verify-diagnostics
// A count of which every rank has a term is folded over microbatches by the largest: terms of different microbatches would
// be mixed, and their sum means nothing.

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
nn.step @train microbatches(2) inputs(["x"])
  prepare { ^bb0(%x: tensor<2x4xf32, #dist.at<#mesh, [], [d0]>>): nn.yield }
  microbatch { ^bb0(%x: tensor<4xf32, #dist.at<#mesh, [d0]>>):
    %s = nn.reduce sum %x [0] : tensor<4xf32, #dist.at<#mesh, [d0]>> -> tensor<f32, #dist.at<#mesh, sum [d0]>>
    // expected-error @+1 {{folds with max a value that is pending otherwise: sum [d0]. Reshard it first}}
    nn.carry ["s"] ["max"] %s : tensor<f32, #dist.at<#mesh, sum [d0]>> }
  update { ^bb0(%s: tensor<f32, #dist.at<#mesh, sum [d0]>>):
    %t = dist.reshard %s : tensor<f32, #dist.at<#mesh, sum [d0]>> -> tensor<f32, #dist.at<#mesh>>
    nn.yield ["s"] %t : tensor<f32, #dist.at<#mesh>> }

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
nn.step @train microbatches(2) inputs(["x"])
  prepare { ^bb0(%x: tensor<2x4xf32, #dist.at<#mesh, [], [d0]>>): nn.yield }
  microbatch { ^bb0(%x: tensor<4xf32, #dist.at<#mesh, [d0]>>):
    %s = nn.reduce sum %x [0] : tensor<4xf32, #dist.at<#mesh, [d0]>> -> tensor<f32, #dist.at<#mesh, sum [d0]>>
    nn.carry ["s"] ["sum"] %s : tensor<f32, #dist.at<#mesh, sum [d0]>> }
  update { ^bb0(%s: tensor<f32, #dist.at<#mesh, sum [d0]>>):
    %t = dist.reshard %s : tensor<f32, #dist.at<#mesh, sum [d0]>> -> tensor<f32, #dist.at<#mesh>>
    nn.yield ["s"] %t : tensor<f32, #dist.at<#mesh>> }
