// A gradient is scattered over the shards in every microbatch when it accumulates in shards. Its sum over the
// replicas shards nothing, so it is taken once a step, in update.
// RUN: weft-opt %s --weft-differentiate --weft-update=optimizer=sgd --weft-seed-placements=zero=2 --weft-place --weft-partition | FileCheck %s
#mesh = #dist.mesh<r0 = 2, d0 = 2 : data = [r0, d0], data_replicate = [r0], data_shard = [d0], tensor = []>
module attributes {dist.mesh = #mesh} {
  nn.parameter @w : tensor<4x8xf32> constant

  // CHECK: microbatch
  // CHECK: dist.reduce_scatter.start sum %{{.*}} over ["d0"] dim 0
  // CHECK-SAME: tensor<2x8xf32, #dist.local<#mesh, 4x8, [d0], [], sum [r0]>>
  // CHECK-NOT: over ["r0"
  // CHECK: nn.carry
  // CHECK: update
  // CHECK: dist.all_reduce.start sum %{{.*}} over ["r0"] : tensor<2x8xf32,
  nn.step @train microbatches(2) inputs(["x"]) attributes {objective = "loss"}
    prepare { ^bb0(%x: tensor<2x4x8xf32>): nn.yield }
    microbatch { ^bb0(%x: tensor<4x8xf32>):
      %w = nn.read @w : tensor<4x8xf32>
      %y = nn.einsum "fh,bh->bf" (%w, %x) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x4xf32>
      %loss = nn.reduce sum %y [0, 1] : tensor<4x4xf32> -> tensor<f32>
      nn.carry ["loss"] ["sum"] %loss : tensor<f32> }
    update { ^bb0(%loss: tensor<f32>): nn.yield ["loss"] %loss : tensor<f32> }
}
