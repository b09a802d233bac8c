// Seven positions on four ranks: parts of two, of which the last one is half padding. Nothing of it is seen by a query, and
// nothing of it is summed into the cotangents of keys and values.
// RUN: weft-run %s --check-phases | FileCheck %s
// CHECK: partition      train
// CHECK: executable     train
// CHECK: no phase changed a value
#mesh = #dist.mesh<c0 = 4 : context = [c0]>
#x = #dist.at<#mesh, [], [c0], []>
module attributes {dist.mesh = #mesh} {
  nn.parameter @q : tensor<2x4x6xf32> normal {deviation = 0.5}
  nn.parameter @k : tensor<1x4x6xf32> normal {deviation = 0.5}
  nn.parameter @sinks : tensor<2xf32> normal {deviation = 0.5}
  nn.step @train microbatches(2) inputs(["x", "ids"]) attributes {objective = "loss", dist.inputs = [#x, #dist.at<#mesh, [], [c0]>]}
    prepare { ^bb0(%x: tensor<2x2x7x6xf32>, %ids: tensor<2x2x7xi32>): nn.yield }
    microbatch { ^bb0(%x: tensor<2x7x6xf32>, %ids: tensor<2x7xi32>):
      %0 = nn.boundary 0 %x {dist.at = #x} : tensor<2x7x6xf32>
      %wq = nn.read @q : tensor<2x4x6xf32>
      %wk = nn.read @k : tensor<1x4x6xf32>
      %sinks = nn.read @sinks : tensor<2xf32>
      %q = nn.einsum "bsh,ndh->bsnd" (%0, %wq) : (tensor<2x7x6xf32>, tensor<2x4x6xf32>) -> tensor<2x7x2x4xf32>
      %k = nn.einsum "bsh,ndh->bsnd" (%0, %wk) : (tensor<2x7x6xf32>, tensor<1x4x6xf32>) -> tensor<2x7x1x4xf32>
      %i = nn.iota 1 : tensor<2x7xi32>
      %segments = nn.cumulative_sum %ids 1 : tensor<2x7xi32>
      %o, %lse = nn.attention %q, %k, %k segments(%segments, %segments) positions(%i, %i) sinks(%sinks) {scale = 0.5, causal, window = 4 : i64}
        : (tensor<2x7x2x4xf32>, tensor<2x7x1x4xf32>, tensor<2x7x1x4xf32>, tensor<2x7xi32>, tensor<2x7xi32>, tensor<2x7xi32>, tensor<2x7xi32>, tensor<2xf32>)
        -> (tensor<2x7x2x4xf32>, tensor<2x2x7xf32>)
      %t = nn.tanh %o : tensor<2x7x2x4xf32>
      %loss = nn.reduce sum %t [0, 1, 2, 3] : tensor<2x7x2x4xf32> -> tensor<f32>
      nn.carry ["loss"] ["sum"] %loss : tensor<f32> }
    update { ^bb0(%loss: tensor<f32>): nn.yield ["loss"] %loss : tensor<f32> }
}
