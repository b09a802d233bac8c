// RUN: weft-opt %s --weft-differentiate --weft-update=optimizer=sgd --canonicalize --cse --weft-seed-placements=zero=3 --weft-place | FileCheck %s
// ZeRO-3: between uses a rank has its part of a parameter alone. Layers gather what they use, in forward and again in
// backward, where the layer's boundary was crossed in between; nothing is gathered in prepare.
// CHECK:      prepare
// CHECK-NOT:  dist.reshard
// CHECK:      microbatch
// CHECK:      %[[W:.*]] = nn.read @a : tensor<8x8xf32, #dist.at<#mesh, [d0], []>>
// CHECK:      %[[FORWARD:.*]] = dist.reshard %[[W]] : tensor<8x8xf32, #dist.at<#mesh, [d0], []>> -> tensor<8x8xf32, #dist.at<#mesh, [], []>>
// CHECK-NEXT: nn.einsum "bh,fh->bf"(%{{.*}}, %[[FORWARD]])
// CHECK:      nn.boundary 1 %{{.*}} : tensor
// CHECK:      nn.boundary 1 %{{.*}} {backward
// CHECK:      %[[BACKWARD:.*]] = dist.reshard %[[W]] : tensor<8x8xf32, #dist.at<#mesh, [d0], []>> -> tensor<8x8xf32, #dist.at<#mesh, [], []>>
// CHECK:      nn.einsum "bf,fh->bh"(%{{.*}}, %[[BACKWARD]])
// CHECK:      nn.carry
#mesh = #dist.mesh<d0 = 2 : data = [d0], data_shard = [d0]>
module attributes {dist.mesh = #mesh} {
  nn.parameter @e : tensor<8xf32> constant {mean = 1.0}
  nn.parameter @a : tensor<8x8xf32> normal {deviation = 0.5}
  nn.step @train microbatches(2) inputs(["x"]) attributes {objective = "loss"}
    prepare { ^bb0(%x: tensor<2x4x8xf32>): nn.yield }
    microbatch { ^bb0(%x: tensor<4x8xf32>):
      %e = nn.read @e : tensor<8xf32>
      %s = nn.broadcast %e [1] : tensor<8xf32> -> tensor<4x8xf32>
      %x0 = nn.multiply %x, %s : tensor<4x8xf32>
      %0 = nn.boundary 0 %x0 : tensor<4x8xf32>
      %w = nn.read @a : tensor<8x8xf32>
      %y = nn.einsum "bh,fh->bf" (%0, %w) : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
      %1 = nn.boundary 1 %y : tensor<4x8xf32>
      %t = nn.tanh %1 : tensor<4x8xf32>
      %loss = nn.reduce sum %t [0, 1] : tensor<4x8xf32> -> tensor<f32>
      nn.carry ["loss"] ["sum"] %loss : tensor<f32> }
    update { ^bb0(%loss: tensor<f32>): nn.yield ["loss"] %loss : tensor<f32> }
}
