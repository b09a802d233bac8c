// RUN: weft-opt %s --weft-differentiate --weft-seed-placements --weft-place | FileCheck %s
// An embedding table split along the vocabulary: a lookup is a sum over the ranks that have parts of the table, and its
// gradient needs none, since a rank adds to its own rows alone.
// CHECK:      %[[X:.*]] = nn.gather {{.*}} : (tensor<10x8xf32, #dist.at<#mesh, [t0], []>>, tensor<4x6xi32, #dist.at<#mesh, [d0], []>>) -> tensor<4x6x8xf32, #dist.at<#mesh, [d0], [], [], sum [t0]>>
// CHECK-NEXT: dist.reshard %[[X]] : {{.*}} -> tensor<4x6x8xf32, #dist.at<#mesh, [d0], [], []>>
// CHECK:      %[[G:.*]] = nn.scatter_add {{.*}} -> tensor<10x8xf32, #dist.at<#mesh, [t0], [], sum [d0]>>
// CHECK-NEXT: nn.carry {{.*}}, %[[G]] :
#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
module attributes {dist.mesh = #mesh} {
  nn.parameter @embed : tensor<10x8xf32> normal {deviation = 0.5, nn.tensor_dimension = 0 : i64}
  nn.step @train microbatches(2) inputs(["ids"]) attributes {objective = "loss"}
    prepare { ^bb0(%ids: tensor<2x4x6xi32>): nn.yield }
    microbatch { ^bb0(%ids: tensor<4x6xi32>):
      %e = nn.read @embed : tensor<10x8xf32>
      %x = nn.gather %e, %ids : (tensor<10x8xf32>, tensor<4x6xi32>) -> tensor<4x6x8xf32>
      %t = nn.tanh %x : tensor<4x6x8xf32>
      %loss = nn.reduce sum %t [0, 1, 2] : tensor<4x6x8xf32> -> tensor<f32>
      nn.carry ["loss"] ["sum"] %loss : tensor<f32> }
    update { ^bb0(%loss: tensor<f32>): nn.yield ["loss"] %loss : tensor<f32> }
}
