// RUN: weft-opt %s --weft-place | FileCheck %s
// A parameter that is used in bfloat16 is cast where it is stored and gathered in half the bytes, once a step.
// CHECK:      prepare
// CHECK:      %[[W:.*]] = nn.read @w : tensor<6x8xf32, #dist.at<#mesh, [d0], []>>
// CHECK-NEXT: %[[NARROW:.*]] = nn.cast %[[W]] : tensor<6x8xf32, #dist.at<#mesh, [d0], []>> -> tensor<6x8xbf16, #dist.at<#mesh, [d0], []>>
// CHECK-NEXT: %[[ALL:.*]] = dist.reshard %[[NARROW]] : {{.*}} -> tensor<6x8xbf16, #dist.at<#mesh, [], []>>
// CHECK-NEXT: nn.yield %[[ALL]]
#mesh = #dist.mesh<d0 = 2 : data = [d0]>
module attributes {dist.mesh = #mesh} {
  nn.parameter @w : tensor<6x8xf32> constant {dist.storage = #dist.at<#mesh, [d0], []>}
  nn.step @train microbatches(2) inputs(["x"]) attributes {dist.inputs = [#dist.at<#mesh, [d0], []>]}
    prepare { ^bb0(%x: tensor<2x4x8xbf16>): nn.yield }
    microbatch { ^bb0(%x: tensor<4x8xbf16>):
      %w = nn.read @w : tensor<6x8xf32>
      %n = nn.cast %w : tensor<6x8xf32> -> tensor<6x8xbf16>
      %y = nn.einsum "bh,fh->bf" (%x, %n) : (tensor<4x8xbf16>, tensor<6x8xbf16>) -> tensor<4x6xf32>
      %loss = nn.reduce sum %y [0, 1] : tensor<4x6xf32> -> tensor<f32>
      nn.carry ["loss"] ["sum"] %loss : tensor<f32> }
    update { ^bb0(%loss: tensor<f32>): nn.yield ["loss"] %loss : tensor<f32> }
}
