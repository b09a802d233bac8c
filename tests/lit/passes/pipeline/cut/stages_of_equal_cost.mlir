// Without first-layers the costliest of `stages` costs least: of four layers, whose last is three times as wide, the last
// stage has that one alone.
// RUN: weft-opt %s --weft-differentiate --weft-update=optimizer=sgd --canonicalize --cse --weft-seed-placements --weft-place --weft-partition --weft-cut=stages=2 | FileCheck %s
// The first layer has a large parameter that costs little: where its rank may not have those of three layers, with
// gradients and moments, it has two.
// RUN: weft-opt %s --weft-differentiate --weft-update=optimizer=sgd --canonicalize --cse --weft-seed-placements --weft-place --weft-partition --weft-cut="stages=2 memory-limit=10800" | FileCheck %s --check-prefix=LIMIT

#mesh = #dist.mesh<p0 = 2 : data = [], data_replicate = [], data_shard = [], pipeline = [p0], tensor = []>
module attributes {dist.mesh = #mesh} {
nn.parameter @large : tensor<64x8xf32> normal {deviation = 0.1}
nn.parameter @w0 : tensor<8x8xf32> normal {deviation = 0.1}
nn.parameter @w1 : tensor<8x8xf32> normal {deviation = 0.1}
nn.parameter @w2 : tensor<8x8xf32> normal {deviation = 0.1}
nn.parameter @w3 : tensor<24x8xf32> normal {deviation = 0.1}
nn.step @step microbatches(2) inputs(["x"]) attributes {objective = "loss"}
  prepare { ^bb0(%x: tensor<2x4x8xf32>): nn.yield }
  microbatch { ^bb0(%x: tensor<4x8xf32>):
    %0 = nn.boundary 0 %x : tensor<4x8xf32>
    %r0 = nn.read @w0 : tensor<8x8xf32>
    %a = nn.einsum "bh,gh->bg" (%0, %r0) : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    %rl = nn.read @large : tensor<64x8xf32>
    %part = nn.slice %rl [0, 0] : tensor<64x8xf32> -> tensor<4x8xf32>
    %al = nn.add %a, %part : tensor<4x8xf32>
    %1 = nn.boundary 1 %al : tensor<4x8xf32>
    %r1 = nn.read @w1 : tensor<8x8xf32>
    %b = nn.einsum "bh,gh->bg" (%1, %r1) : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    %2 = nn.boundary 2 %b : tensor<4x8xf32>
    %r2 = nn.read @w2 : tensor<8x8xf32>
    %c = nn.einsum "bh,gh->bg" (%2, %r2) : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    %3 = nn.boundary 3 %c : tensor<4x8xf32>
    %r3 = nn.read @w3 : tensor<24x8xf32>
    %d = nn.einsum "bh,gh->bg" (%3, %r3) : (tensor<4x8xf32>, tensor<24x8xf32>) -> tensor<4x24xf32>
    %square = nn.multiply %d, %d : tensor<4x24xf32>
    %loss = nn.reduce sum %square [0, 1] : tensor<4x24xf32> -> tensor<f32>
    nn.carry ["loss"] ["sum"] %loss : tensor<f32> }
  update { ^bb0(%loss: tensor<f32>): nn.yield ["loss"] %loss : tensor<f32> }
}

// CHECK-LABEL: module @pipeline_rank_0
// CHECK:       nn.parameter @w0
// CHECK:       nn.parameter @w1
// CHECK:       nn.parameter @w2
// CHECK-LABEL: module @pipeline_rank_1
// CHECK:       nn.parameter @w3

// LIMIT-LABEL: module @pipeline_rank_0
// LIMIT-NOT:   nn.parameter @w2
// LIMIT-LABEL: module @pipeline_rank_1
// LIMIT:       nn.parameter @w2
