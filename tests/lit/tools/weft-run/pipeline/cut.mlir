// A program that is cut means what it meant: in every schedule, also with stages that share a parameter (the embedding is
// the head), on a mesh with a pipeline alone, and where a rank of it is four that split tensors and data. With declared
// types, in which every op rounds, it has the same bits.
// RUN: split-file %s %t
// RUN: sed "s/MESH/p0 = 2 : data = [], data_replicate = [], data_shard = [], pipeline = [p0], tensor = []/" %t/step.mlir > %t/two.mlir
// RUN: sed "s/MESH/p0 = 2, p1 = 2, d0 = 2, t0 = 2 : data = [d0], data_replicate = [], data_shard = [d0], pipeline = [p0, p1], tensor = [t0]/" %t/step.mlir > %t/many.mlir

// RUN: weft-opt %t/two.mlir --weft-differentiate --weft-update="optimizer=sgd" --canonicalize --cse --weft-seed-placements --weft-place --weft-partition -o %t/two.whole.mlir
// RUN: weft-run %t/two.whole.mlir --types declared --print > %t/two.one
// RUN: FileCheck %s --input-file %t/two.one
// CHECK:     {{^}}loss: tensor<f32>
// CHECK:     {{^}}grad_norm: tensor<f32>
// CHECK-DAG: {{^}}@embed: tensor<11x8xf32>
// CHECK-DAG: {{^}}@w3: tensor<8x8xf32>
// RUN: sort %t/two.one > %t/two.sorted
// RUN: weft-opt %t/two.whole.mlir --weft-cut="first-layers=2 schedule=gpipe" | weft-run - --types declared --print | sort | diff %t/two.sorted -
// RUN: weft-opt %t/two.whole.mlir --weft-cut="first-layers=2 schedule=1f1b" | weft-run - --types declared --print | sort | diff %t/two.sorted -
// RUN: weft-opt %t/two.whole.mlir --weft-cut="first-layers=1 schedule=zb_h1" | weft-run - --types declared --print | sort | diff %t/two.sorted -
// RUN: weft-opt %t/two.whole.mlir --weft-cut="first-layers=1,2,3 schedule=interleaved" | weft-run - --types declared --print | sort | diff %t/two.sorted -

// RUN: weft-opt %t/many.mlir --weft-differentiate --weft-update="optimizer=adamw" --canonicalize --cse --weft-seed-placements="zero=0 sequence=true" --weft-place --weft-partition -o %t/many.whole.mlir
// RUN: weft-run %t/many.whole.mlir --types declared --print | sort > %t/many.sorted
// RUN: weft-opt %t/many.whole.mlir --weft-cut="first-layers=1,2,3 schedule=1f1b" | weft-run - --types declared --print | sort | diff %t/many.sorted -
// RUN: weft-opt %t/many.whole.mlir --weft-cut="first-layers=1,2,3 schedule=zb_h2" | weft-run - --types declared --print | sort | diff %t/many.sorted -
// RUN: weft-opt %t/many.whole.mlir --weft-cut="first-layers=1,2,3 schedule=gpipe" | weft-run - > %t/many.exact
// RUN: weft-run %t/many.whole.mlir > %t/many.whole.exact
// RUN: sort %t/many.whole.exact > %t/many.whole.sorted
// RUN: sort %t/many.exact | diff %t/many.whole.sorted -

//--- step.mlir
#mesh = #dist.mesh<MESH>
module attributes {dist.mesh = #mesh} {
  nn.parameter @embed : tensor<11x8xf32> normal {deviation = 0.5, nn.tensor_dimension = 0 : i64}
  nn.parameter @w0 : tensor<8x8xf32> normal {deviation = 0.5, nn.tensor_dimension = 0 : i64}
  nn.parameter @w1 : tensor<8x8xf32> normal {deviation = 0.5, nn.tensor_dimension = 0 : i64}
  nn.parameter @w2 : tensor<8x8xf32> normal {deviation = 0.5, nn.tensor_dimension = 0 : i64}
  nn.parameter @w3 : tensor<8x8xf32> normal {deviation = 0.5, nn.tensor_dimension = 0 : i64}
  nn.step @train microbatches(4) inputs(["targets", "tokens"]) attributes {objective = "loss"}
    prepare { ^bb0(%targets: tensor<4x4x6xi32>, %tokens: tensor<4x4x6xi32>):
      nn.yield }
    microbatch { ^bb0(%targets: tensor<4x6xi32>, %tokens: tensor<4x6xi32>):
      %e = nn.read @embed : tensor<11x8xf32>
      %x = nn.gather %e, %tokens : (tensor<11x8xf32>, tensor<4x6xi32>) -> tensor<4x6x8xf32>
      %0 = nn.boundary 0 %x : tensor<4x6x8xf32>
      %r0 = nn.read @w0 : tensor<8x8xf32>
      %h0 = nn.einsum "bsh,fh->bsf" (%0, %r0) : (tensor<4x6x8xf32>, tensor<8x8xf32>) -> tensor<4x6x8xf32>
      %a0 = nn.activation silu %h0 : tensor<4x6x8xf32>
      %1 = nn.boundary 1 %a0 : tensor<4x6x8xf32>
      %r1 = nn.read @w1 : tensor<8x8xf32>
      %h1 = nn.einsum "bsh,fh->bsf" (%1, %r1) : (tensor<4x6x8xf32>, tensor<8x8xf32>) -> tensor<4x6x8xf32>
      %a1 = nn.add %1, %h1 : tensor<4x6x8xf32>
      %2 = nn.boundary 2 %a1 : tensor<4x6x8xf32>
      %r2 = nn.read @w2 : tensor<8x8xf32>
      %h2 = nn.einsum "bsh,fh->bsf" (%2, %r2) : (tensor<4x6x8xf32>, tensor<8x8xf32>) -> tensor<4x6x8xf32>
      // The derivative needs this value, which is sent on.
      %a2 = nn.exp %h2 : tensor<4x6x8xf32>
      %3 = nn.boundary 3 %a2 : tensor<4x6x8xf32>
      %r3 = nn.read @w3 : tensor<8x8xf32>
      %h3 = nn.einsum "bsh,fh->bsf" (%3, %r3) : (tensor<4x6x8xf32>, tensor<8x8xf32>) -> tensor<4x6x8xf32>
      %last = nn.boundary 4 %h3 : tensor<4x6x8xf32>
      %head = nn.read @embed : tensor<11x8xf32>
      %l, %zl, %lse = nn.linear_cross_entropy %last, %head, %targets : (tensor<4x6x8xf32>, tensor<11x8xf32>, tensor<4x6xi32>) -> (tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>)
      %loss = nn.reduce sum %l [0, 1] : tensor<4x6xf32> -> tensor<f32>
      nn.carry ["loss"] ["sum"] %loss : tensor<f32> }
    update { ^bb0(%loss: tensor<f32>): nn.yield ["loss"] %loss : tensor<f32> }
}
