// Behind `fuse` a program is launches of kernels: it is run as it was compiled, with a memory plan or without one yet, on
// virtual ranks where it is on a mesh. All numbers here are exact in float32, so all levels print the same.
// RUN: weft-opt %s --weft-differentiate --weft-update="optimizer=sgd lr=0.25 beta1=0 weight-decay=0 clip-grad-norm=0" --canonicalize --cse -o %t.update.mlir
// RUN: weft-run %t.update.mlir > %t.one
// RUN: FileCheck %s --input-file %t.one
// CHECK: loss
// CHECK: @w

// RUN: weft-opt %t.update.mlir --weft-schedule --weft-fuse -o %t.fuse.mlir
// RUN: weft-run %t.fuse.mlir | diff %t.one -
// RUN: weft-opt %t.fuse.mlir --weft-memory | weft-run - | diff %t.one -

// RUN: weft-opt %t.update.mlir --weft-seed-placements="zero=2" --weft-place --weft-partition --weft-schedule --weft-fuse -o %t.mesh.mlir
// RUN: weft-run %t.mesh.mlir | diff %t.one -
// RUN: weft-opt %t.mesh.mlir --weft-memory | weft-run - --types declared | diff %t.one -

// RUN: not weft-run %t.fuse.mlir --types exact 2>&1 | FileCheck %s --check-prefix=EXACT
// EXACT: --types exact: the program has been through `fuse`; it is launches of kernels, which round to its types. Leave the option out, or run the program before `fuse`
#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], data_shard = [d0], tensor = [t0]>
module attributes {dist.mesh = #mesh} {
  nn.parameter @w : tensor<6x8xf32> constant {mean = 0.5, nn.tensor_dimension = 1 : i64}
  nn.step @train microbatches(2) inputs(["tokens"]) attributes {objective = "loss"}
    prepare { ^bb0(%tokens: tensor<2x4xi32>):
      nn.yield }
    microbatch { ^bb0(%tokens: tensor<4xi32>):
      %w = nn.read @w : tensor<6x8xf32>
      %e = nn.gather %w, %tokens : (tensor<6x8xf32>, tensor<4xi32>) -> tensor<4x8xf32>
      %s = nn.multiply %e, %e : tensor<4x8xf32>
      %loss = nn.reduce sum %s [0, 1] : tensor<4x8xf32> -> tensor<f32>
      nn.carry ["loss"] ["sum"] %loss : tensor<f32> }
    update { ^bb0(%loss: tensor<f32>): nn.yield ["loss"] %loss : tensor<f32> }
}
