// RUN: weft-opt %s --weft-differentiate --weft-update=optimizer=sgd --canonicalize --cse --weft-seed-placements=zero=1 --weft-place | FileCheck %s
// The global norm is one reduction of one number, over all ranks: squares of parameters that are split differently join
// as terms, and what is whole over an axis counts on one rank of it.
// CHECK:      update
// CHECK:      %[[A:.*]] = nn.squared_norm %{{.*}} : tensor<12x8xf32, #dist.at<#mesh, [t0, d0], []>> -> tensor<f64, #dist.at<#mesh, sum [d0, t0]>>
// CHECK:      %[[B:.*]] = nn.squared_norm %{{.*}} : tensor<8xf32, #dist.at<#mesh, [d0]>> -> tensor<f64, #dist.at<#mesh, sum [d0]>>
// CHECK-NEXT: %[[ONE:.*]] = dist.reshard %[[B]] : tensor<f64, #dist.at<#mesh, sum [d0]>> -> tensor<f64, #dist.at<#mesh, sum [d0, t0]>>
// CHECK-NEXT: %[[SUM:.*]] = nn.add %[[A]], %[[ONE]] : tensor<f64, #dist.at<#mesh, sum [d0, t0]>>
// CHECK-NEXT: %[[ALL:.*]] = dist.reshard %[[SUM]] : tensor<f64, #dist.at<#mesh, sum [d0, t0]>> -> tensor<f64, #dist.at<#mesh>>
// CHECK-NEXT: nn.sqrt %[[ALL]]
#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], data_shard = [d0], tensor = [t0]>
module attributes {dist.mesh = #mesh} {
  nn.parameter @w : tensor<12x8xf32> normal {deviation = 0.5, nn.tensor_dimension = 0 : i64}
  nn.parameter @b : tensor<8xf32> constant
  nn.step @train microbatches(1) inputs(["x"]) attributes {objective = "loss"}
    prepare { ^bb0(%x: tensor<1x4x8xf32>): nn.yield }
    microbatch { ^bb0(%x: tensor<4x8xf32>):
      %w = nn.read @w : tensor<12x8xf32>
      %b = nn.read @b : tensor<8xf32>
      %s = nn.broadcast %b [1] : tensor<8xf32> -> tensor<4x8xf32>
      %xb = nn.add %x, %s : tensor<4x8xf32>
      %y = nn.einsum "bh,fh->bf" (%xb, %w) : (tensor<4x8xf32>, tensor<12x8xf32>) -> tensor<4x12xf32>
      %a = nn.tanh %y : tensor<4x12xf32>
      %loss = nn.reduce sum %a [0, 1] : tensor<4x12xf32> -> tensor<f32>
      nn.carry ["loss"] ["sum"] %loss : tensor<f32> }
    update { ^bb0(%loss: tensor<f32>): nn.yield ["loss"] %loss : tensor<f32> }
}
