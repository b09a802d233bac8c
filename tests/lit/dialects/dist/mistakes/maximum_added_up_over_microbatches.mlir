// RUN: weft-opt %s --split-input-file --verify-diagnostics
// The largest logit, a pending maximum, is carried by sum: a sum of maxima of parts is no maximum of anything.

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
nn.step @train microbatches(2) inputs(["x"])
  prepare { ^bb0(%x: tensor<2x4xf32, #dist.at<#mesh, [], [d0]>>): nn.yield }
  microbatch { ^bb0(%x: tensor<4xf32, #dist.at<#mesh, [d0]>>):
    %s = nn.reduce max %x [0] : tensor<4xf32, #dist.at<#mesh, [d0]>> -> tensor<f32, #dist.at<#mesh, max [d0]>>
    // expected-error @+1 {{folds with sum a value that is pending otherwise: max [d0]. Reshard it first}}
    nn.carry ["s"] ["sum"] %s : tensor<f32, #dist.at<#mesh, max [d0]>> }
  update { ^bb0(%s: tensor<f32, #dist.at<#mesh, max [d0]>>):
    %t = dist.reshard %s : tensor<f32, #dist.at<#mesh, max [d0]>> -> tensor<f32, #dist.at<#mesh>>
    nn.yield ["s"] %t : tensor<f32, #dist.at<#mesh>> }

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
nn.step @train microbatches(2) inputs(["x"])
  prepare { ^bb0(%x: tensor<2x4xf32, #dist.at<#mesh, [], [d0]>>): nn.yield }
  microbatch { ^bb0(%x: tensor<4xf32, #dist.at<#mesh, [d0]>>):
    %s = nn.reduce max %x [0] : tensor<4xf32, #dist.at<#mesh, [d0]>> -> tensor<f32, #dist.at<#mesh, max [d0]>>
    nn.carry ["s"] ["max"] %s : tensor<f32, #dist.at<#mesh, max [d0]>> }
  update { ^bb0(%s: tensor<f32, #dist.at<#mesh, max [d0]>>):
    %t = dist.reshard %s : tensor<f32, #dist.at<#mesh, max [d0]>> -> tensor<f32, #dist.at<#mesh>>
    nn.yield ["s"] %t : tensor<f32, #dist.at<#mesh>> }
