// RUN: weft-opt %s --weft-partition | FileCheck %s
// Variables, inputs and what regions pass on become parts; the whole shape stays in the type.
#mesh = #dist.mesh<d0 = 2, t0 = 2>
#w = #dist.at<#mesh, [t0], []>
// CHECK: nn.parameter @w : tensor<3x8xf32, #dist.local<#mesh, 6x8, [t0], []>> constant
nn.parameter @w : tensor<6x8xf32, #w> constant
// CHECK: nn.step @train microbatches(2) inputs(["x"])
nn.step @train microbatches(2) inputs(["x"])
  // CHECK: ^bb0(%arg0: tensor<2x2x8xf32, #dist.local<#mesh, 2x4x8, [], [d0], []>>):
  prepare { ^bb0(%x: tensor<2x4x8xf32, #dist.at<#mesh, [], [d0], []>>): nn.yield }
  // CHECK: ^bb0(%arg0: tensor<2x8xf32, #dist.local<#mesh, 4x8, [d0], []>>):
  microbatch { ^bb0(%x: tensor<4x8xf32, #dist.at<#mesh, [d0], []>>):
    // CHECK: nn.read @w : tensor<3x8xf32, #dist.local<#mesh, 6x8, [t0], []>>
    %w = nn.read @w : tensor<6x8xf32, #w>
    // CHECK: nn.einsum {{.*}} -> tensor<2x3xf32, #dist.local<#mesh, 4x6, [d0], [t0]>>
    %y = nn.einsum "bh,fh->bf" (%x, %w) : (tensor<4x8xf32, #dist.at<#mesh, [d0], []>>, tensor<6x8xf32, #w>) -> tensor<4x6xf32, #dist.at<#mesh, [d0], [t0]>>
    %s = nn.reduce sum %y [0, 1] : tensor<4x6xf32, #dist.at<#mesh, [d0], [t0]>> -> tensor<f32, #dist.at<#mesh, sum [d0, t0]>>
    nn.carry ["loss"] ["sum"] %s : tensor<f32, #dist.at<#mesh, sum [d0, t0]>> }
  // CHECK: ^bb0(%arg0: tensor<f32, #dist.local<#mesh, scalar, sum [d0, t0]>>):
  update { ^bb0(%s: tensor<f32, #dist.at<#mesh, sum [d0, t0]>>):
    // CHECK: dist.all_reduce.start sum %arg0 over ["d0", "t0"]
    %loss = dist.reshard %s : tensor<f32, #dist.at<#mesh, sum [d0, t0]>> -> tensor<f32, #dist.at<#mesh>>
    nn.yield ["loss"] %loss : tensor<f32, #dist.at<#mesh>> }
