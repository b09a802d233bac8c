// RUN: weft-opt %s --weft-differentiate --weft-update=optimizer=sgd --canonicalize --cse --weft-seed-placements=zero=1 --weft-place | FileCheck %s
// HSDP: samples are split over replicas and shards, storage over shards alone. A gather stays in its group of shards; a
// gradient sums over both axes, to the shard that a rank owns.
// CHECK: nn.parameter @w : tensor<6x8xf32, #dist.at<#mesh, [d0], []>>
// CHECK: prepare
// CHECK: dist.reshard %{{.*}} : tensor<6x8xf32, #dist.at<#mesh, [d0], []>> -> tensor<6x8xf32, #dist.at<#mesh, [], []>>
// CHECK: microbatch
// CHECK: ^bb0(%arg0: tensor<4x8xf32, #dist.at<#mesh, [r0, d0], []>>
// CHECK: update
// CHECK: dist.reshard %arg1 : tensor<6x8xf32, #dist.at<#mesh, [], [], sum [r0, d0]>> -> tensor<6x8xf32, #dist.at<#mesh, [d0], []>>
// CHECK: %[[S:.*]] = nn.squared_norm %{{.*}} -> tensor<f64, #dist.at<#mesh, sum [d0]>>
// CHECK: dist.reshard %[[S]] : tensor<f64, #dist.at<#mesh, sum [d0]>> -> tensor<f64, #dist.at<#mesh>>
#mesh = #dist.mesh<r0 = 2, d0 = 2 : data = [r0, d0], data_replicate = [r0], data_shard = [d0]>
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
