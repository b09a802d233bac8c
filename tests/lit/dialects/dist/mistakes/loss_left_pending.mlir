// RUN: weft-opt %s --split-input-file --verify-diagnostics
// A step yields its loss before it is summed: rank 0 would report the loss of its own samples.

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
// expected-error @+1 {{'nn.step' op yields "s" at sum [d0]: each rank would give another value. Reshard it to be replicated first}}
nn.step @train microbatches(2) inputs(["x"])
  prepare { ^bb0(%x: tensor<2x4xf32, #dist.at<#mesh, [], [d0]>>): nn.yield }
  microbatch { ^bb0(%x: tensor<4xf32, #dist.at<#mesh, [d0]>>):
    %s = nn.reduce sum %x [0] : tensor<4xf32, #dist.at<#mesh, [d0]>> -> tensor<f32, #dist.at<#mesh, sum [d0]>>
    nn.carry ["s"] ["sum"] %s : tensor<f32, #dist.at<#mesh, sum [d0]>> }
  update { ^bb0(%s: tensor<f32, #dist.at<#mesh, sum [d0]>>):
    nn.yield ["s"] %s : tensor<f32, #dist.at<#mesh, sum [d0]>> }

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
