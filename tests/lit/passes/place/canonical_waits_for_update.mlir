// Leaves of the canonical sum wait for update under every ZeRO level, pending as trees over the data axes. There storage
// decides where their sums go, and rows of the norm are gathered, so that all ranks add the same numbers in the same order.
// RUN: weft-opt %s --weft-differentiate --weft-update="optimizer=sgd reduction=canonical" --canonicalize --cse --weft-seed-placements=zero=3 --weft-place | FileCheck %s
// RUN: weft-opt %s --weft-differentiate --weft-update="optimizer=sgd reduction=canonical" --canonicalize --cse --weft-seed-placements=zero=3 --weft-place --weft-partition | FileCheck %s --check-prefix=LOCAL
// RUN: weft-opt %s --weft-differentiate --weft-update="optimizer=sgd reduction=canonical" --canonicalize --cse --weft-seed-placements=zero=0 --weft-place --weft-partition | FileCheck %s --check-prefix=WHOLE

// CHECK:     microbatch
// CHECK:     %[[G:.*]] = nn.einsum "bf,bh->fh"{{.*}} -> tensor<6x8xf32, #dist.at<#mesh, [], [], sum [r0, d0]>>
// CHECK:     %[[LEAF:.*]] = nn.leaf %[[G]] : {{.*}} -> tensor<6x8xf32, #dist.at<#mesh, [], [], tree [r0, d0]>>
// CHECK:     nn.carry {{.*}} ["tree", "tree"] %{{.*}}, %[[LEAF]] : tensor<f32, #dist.at<#mesh, tree [r0, d0]>>, tensor<6x8xf32, #dist.at<#mesh, [], [], tree [r0, d0]>>
// CHECK:     update
// CHECK:     %[[PART:.*]] = dist.reshard %arg1 : tensor<6x8xf32, #dist.at<#mesh, [], [], tree [r0, d0]>> -> tensor<6x8xf32, #dist.at<#mesh, [], [d0]>>
// CHECK:     %[[ROWS:.*]] = nn.squared_norm %[[PART]] rows 1 : {{.*}} -> tensor<8xf64, #dist.at<#mesh, [d0]>>
// CHECK:     %[[ALL:.*]] = dist.reshard %[[ROWS]] : {{.*}} -> tensor<8xf64, #dist.at<#mesh, []>>
// CHECK:     nn.concatenate 0(%[[ALL]])

// The minor axis is the lower level of the tree: it is reduced first, and the replicas then add parts.
// LOCAL:     update
// LOCAL:     dist.reduce_scatter.start tree %arg1 over ["d0"] dim 1
// LOCAL:     dist.all_reduce.start tree %{{.*}} over ["r0"]
// LOCAL:     nn.squared_norm {{.*}} rows 1
// LOCAL:     dist.all_gather.start %{{.*}} over ["d0"] dim 0

// WHOLE:     update
// WHOLE:     dist.all_reduce.start tree %arg1 over ["r0", "d0"]
// WHOLE:     nn.squared_norm {{.*}} rows 1 : {{.*}} -> tensor<8xf64, #dist.local<#mesh, 8, []>>
// WHOLE-NOT: all_gather
// WHOLE:     dist.all_reduce.start tree %arg0 over ["r0", "d0"]
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
