// RUN: weft-opt %s --weft-differentiate --weft-update=optimizer=sgd --canonicalize --cse --weft-seed-placements=zero=0 --weft-place | FileCheck %s
// Data parallelism: parameters are whole everywhere, gradients stay pending over the data ranks while microbatches add
// up, and are reduced once, in update.
// CHECK:     nn.parameter @w : tensor<6x8xf32, #dist.at<#mesh, [], []>>
// CHECK:     microbatch
// CHECK-NOT: dist.reshard
// CHECK:     nn.carry {{.*}} tensor<f32, #dist.at<#mesh, sum [d0]>>, tensor<6x8xf32, #dist.at<#mesh, [], [], sum [d0]>>
// CHECK:     update
// CHECK:     %[[G:.*]] = dist.reshard %arg1 : tensor<6x8xf32, #dist.at<#mesh, [], [], sum [d0]>> -> tensor<6x8xf32, #dist.at<#mesh, [], []>>
// CHECK:     nn.squared_norm %[[G]]
// CHECK-NOT: sum [d0]>> -> tensor<6x8xf32
// CHECK:     nn.write @w
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
