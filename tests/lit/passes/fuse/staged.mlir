// Collectives that may run between processes say for how many ranks they need memory for what is sent; kernels of
// one rank do not.
// RUN: weft-opt %s --weft-differentiate --weft-seed-placements=zero=1 --weft-place --weft-partition --weft-schedule --weft-fuse=staged=true | FileCheck %s --check-prefix=STAGED
// RUN: weft-opt %s --weft-differentiate --weft-seed-placements=zero=1 --weft-place --weft-partition --weft-schedule --weft-fuse | FileCheck %s --check-prefix=PLAIN

#mesh = #dist.mesh<d0 = 2, d1 = 2 : data = [d0, d1], data_shard = [d0, d1]>
module attributes {dist.mesh = #mesh} {
  nn.parameter @w : tensor<8x4xf32> normal {deviation = 0.5}
  // STAGED: sched.launch "all_gather"{{.*}}staged = array<i64: 4>
  // STAGED-NOT: "rank_{{.*}}staged
  // PLAIN: sched.launch "all_gather"
  // PLAIN-NOT: staged = array
  nn.step @train microbatches(1) inputs(["x"]) attributes {objective = "loss"}
    prepare { ^bb0(%x: tensor<1x8x8xf32>): nn.yield }
    microbatch { ^bb0(%x: tensor<8x8xf32>):
      %w = nn.read @w : tensor<8x4xf32>
      %y = nn.einsum "bf,fh->bh" (%x, %w) : (tensor<8x8xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
      %loss = nn.reduce sum %y [0, 1] : tensor<8x4xf32> -> tensor<f32>
      nn.carry ["loss"] ["sum"] %loss : tensor<f32> }
    update { ^bb0(%loss: tensor<f32>): nn.yield ["loss"] %loss : tensor<f32> }
}
