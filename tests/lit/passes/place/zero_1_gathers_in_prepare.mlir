// RUN: weft-opt %s --weft-differentiate --weft-update=optimizer=sgd --canonicalize --cse --weft-seed-placements=zero=1 --weft-place | FileCheck %s
// ZeRO-1: optimizer state and the parameters that it updates are split over the data ranks; prepare gathers a parameter
// once a step for all microbatches, and update reduces its gradient to the part that a rank owns.
// CHECK:     nn.parameter @w : tensor<6x8xf32, #dist.at<#mesh, [d0], []>>
// CHECK:     nn.state @optimizer.first_moment.w : tensor<6x8xf32, #dist.at<#mesh, [d0], []>>
// CHECK:     prepare
// CHECK:     %[[W:.*]] = nn.read @w
// CHECK:     %[[ALL:.*]] = dist.reshard %[[W]] : tensor<6x8xf32, #dist.at<#mesh, [d0], []>> -> tensor<6x8xf32, #dist.at<#mesh, [], []>>
// CHECK:     nn.yield %[[ALL]]
// CHECK:     microbatch
// CHECK-NOT: dist.reshard
// CHECK:     nn.carry {{.*}} tensor<6x8xf32, #dist.at<#mesh, [], [], sum [d0]>>
// CHECK:     update
// CHECK:     dist.reshard %arg1 : tensor<6x8xf32, #dist.at<#mesh, [], [], sum [d0]>> -> tensor<6x8xf32, #dist.at<#mesh, [d0], []>>
// CHECK:     nn.sgd {{.*}} -> (tensor<6x8xf32, #dist.at<#mesh, [d0], []>>, tensor<6x8xf32, #dist.at<#mesh, [d0], []>>)
#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], data_shard = [d0], tensor = [t0]>
module attributes {dist.mesh = #mesh} {
  nn.parameter @w : tensor<6x8xf32> normal {deviation = 0.5}
  nn.step @train microbatches(2) inputs(["x"]) attributes {objective = "loss"}
    prepare { ^bb0(%x: tensor<2x4x8xf32>): nn.yield }
    microbatch { ^bb0(%x: tensor<4x8xf32>):
      %w = nn.read @w : tensor<6x8xf32>
      %y = nn.einsum "bh,fh->bf" (%x, %w) : (tensor<4x8xf32>, tensor<6x8xf32>) -> tensor<4x6xf32>
      %a = nn.tanh %y : tensor<4x6xf32>
      %loss = nn.reduce sum %a [0, 1] : tensor<4x6xf32> -> tensor<f32>
      nn.carry ["loss"] ["sum"] %loss : tensor<f32> }
    update { ^bb0(%loss: tensor<f32>): nn.yield ["loss"] %loss : tensor<f32> }
}
