// RUN: weft-opt %s --weft-differentiate --weft-update=optimizer=sgd --canonicalize --cse --weft-seed-placements=zero=1 --weft-place | FileCheck %s
// A parameter that is used twice has two gradients, each a sum over the data ranks: their sum is taken first, on the
// terms, and reduced once.
// CHECK:      update
// CHECK:      %[[SUM:.*]] = nn.add %arg1, %arg2 : tensor<8x8xf32, #dist.at<#mesh, [], [], sum [d0]>>
// CHECK-NEXT: dist.reshard %[[SUM]] : tensor<8x8xf32, #dist.at<#mesh, [], [], sum [d0]>> -> tensor<8x8xf32, #dist.at<#mesh, [d0], []>>
// CHECK-NOT:  sum [d0]>> -> tensor<8x8xf32
// CHECK:      nn.write @w
#mesh = #dist.mesh<d0 = 2 : data = [d0], data_shard = [d0]>
module attributes {dist.mesh = #mesh} {
  nn.parameter @w : tensor<8x8xf32> normal {deviation = 0.5}
  nn.step @train microbatches(1) inputs(["x"]) attributes {objective = "loss"}
    prepare { ^bb0(%x: tensor<1x4x8xf32>): nn.yield }
    microbatch { ^bb0(%x: tensor<4x8xf32>):
      %first = nn.read @w : tensor<8x8xf32>
      %y = nn.einsum "bh,fh->bf" (%x, %first) : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
      %a = nn.tanh %y : tensor<4x8xf32>
      %second = nn.read @w : tensor<8x8xf32>
      %z = nn.einsum "bf,hf->bh" (%a, %second) : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
      %t = nn.tanh %z : tensor<4x8xf32>
      %loss = nn.reduce sum %t [0, 1] : tensor<4x8xf32> -> tensor<f32>
      nn.carry ["loss"] ["sum"] %loss : tensor<f32> }
    update { ^bb0(%loss: tensor<f32>): nn.yield ["loss"] %loss : tensor<f32> }
}
