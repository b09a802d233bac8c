// A program on a mesh means the same at every level: as one device runs it, placed, on parts of ranks, and scheduled.
// Vocabulary and feed-forward are odd, so parts are uneven.
// RUN: weft-opt %s --weft-differentiate --weft-update="optimizer=sgd" --canonicalize --cse -o %t.update.mlir
// RUN: weft-run %t.update.mlir > %t.one
// RUN: weft-opt %t.update.mlir --weft-seed-placements="zero=0 sequence=true" --weft-place -o %t.place.mlir
// RUN: weft-opt %t.place.mlir --weft-partition -o %t.partition.mlir
// RUN: weft-opt %t.partition.mlir --weft-schedule -o %t.schedule.mlir
// RUN: weft-run %t.place.mlir | diff %t.one -
// RUN: weft-run %t.partition.mlir | diff %t.one -
// RUN: weft-run %t.schedule.mlir | diff %t.one -
// RUN: weft-opt %t.update.mlir --weft-seed-placements="zero=1 sequence=true" --weft-place -o %t.place.mlir
// RUN: weft-opt %t.place.mlir --weft-partition -o %t.partition.mlir
// RUN: weft-opt %t.partition.mlir --weft-schedule -o %t.schedule.mlir
// RUN: weft-run %t.place.mlir | diff %t.one -
// RUN: weft-run %t.partition.mlir | diff %t.one -
// RUN: weft-run %t.schedule.mlir | diff %t.one -
// RUN: weft-opt %t.update.mlir --weft-seed-placements="zero=2 sequence=true" --weft-place -o %t.place.mlir
// RUN: weft-opt %t.place.mlir --weft-partition -o %t.partition.mlir
// RUN: weft-opt %t.partition.mlir --weft-schedule -o %t.schedule.mlir
// RUN: weft-run %t.place.mlir | diff %t.one -
// RUN: weft-run %t.partition.mlir | diff %t.one -
// RUN: weft-run %t.schedule.mlir | diff %t.one -
// RUN: weft-opt %t.update.mlir --weft-seed-placements="zero=3 sequence=true" --weft-place -o %t.place.mlir
// RUN: weft-opt %t.place.mlir --weft-partition -o %t.partition.mlir
// RUN: weft-opt %t.partition.mlir --weft-schedule -o %t.schedule.mlir
// RUN: weft-run %t.place.mlir | diff %t.one -
// RUN: weft-run %t.partition.mlir | diff %t.one -
// RUN: weft-run %t.schedule.mlir | diff %t.one -
#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], data_shard = [d0], tensor = [t0]>
module attributes {dist.mesh = #mesh} {
  nn.parameter @embed : tensor<11x8xf32> normal {deviation = 0.5, nn.tensor_dimension = 0 : i64}
  nn.parameter @up : tensor<15x8xf32> normal {deviation = 0.5, nn.tensor_dimension = 0 : i64}
  nn.parameter @down : tensor<8x15xf32> normal {deviation = 0.5, nn.tensor_dimension = 1 : i64}
  nn.parameter @norm : tensor<8xf32> constant {mean = 1.0}
  nn.step @train microbatches(2) inputs(["tokens", "targets"]) attributes {objective = "loss"}
    prepare { ^bb0(%tokens: tensor<2x4x6xi32>, %targets: tensor<2x4x6xi32>):
      nn.yield }
    microbatch { ^bb0(%tokens: tensor<4x6xi32>, %targets: tensor<4x6xi32>):
      %e = nn.read @embed : tensor<11x8xf32>
      %x0 = nn.gather %e, %tokens : (tensor<11x8xf32>, tensor<4x6xi32>) -> tensor<4x6x8xf32>
      %x = nn.boundary 0 %x0 : tensor<4x6x8xf32>
      %nw = nn.read @norm : tensor<8xf32>
      %n, %r = nn.rms_norm %x, %nw {epsilon = 1.0e-5 : f64} : (tensor<4x6x8xf32>, tensor<8xf32>) -> (tensor<4x6x8xf32>, tensor<4x6xf32>)
      %u = nn.read @up : tensor<15x8xf32>
      %h = nn.einsum "bsh,fh->bsf" (%n, %u) : (tensor<4x6x8xf32>, tensor<15x8xf32>) -> tensor<4x6x15xf32>
      %a = nn.activation silu %h : tensor<4x6x15xf32>
      %d = nn.read @down : tensor<8x15xf32>
      %o = nn.einsum "bsf,hf->bsh" (%a, %d) : (tensor<4x6x15xf32>, tensor<8x15xf32>) -> tensor<4x6x8xf32>
      %y = nn.add %x, %o : tensor<4x6x8xf32>
      %z = nn.boundary 1 %y : tensor<4x6x8xf32>
      %head = nn.read @embed : tensor<11x8xf32>
      %l, %zl, %lse = nn.linear_cross_entropy %z, %head, %targets : (tensor<4x6x8xf32>, tensor<11x8xf32>, tensor<4x6xi32>) -> (tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>)
      %loss = nn.reduce sum %l [0, 1] : tensor<4x6xf32> -> tensor<f32>
      nn.carry ["loss"] ["sum"] %loss : tensor<f32> }
    update { ^bb0(%loss: tensor<f32>): nn.yield ["loss"] %loss : tensor<f32> }
}
