// With reduction=canonical float sums over microbatches are carried by tree, as leaves; counts, which are exact, stay sums.
// The norm sums rows of whole parameters: 4 microbatches can be shared by at most 4 data ranks, so rows are of the first
// dimension that 4 divides, else of the one that can be halved most.
// RUN: weft-opt %s --weft-differentiate --weft-update="optimizer=sgd reduction=canonical" | FileCheck %s
// RUN: not weft-opt %s --weft-differentiate --weft-update="reduction=exact" 2>&1 | FileCheck %s --check-prefix=REFUSED
// REFUSED: error: update: no reduction 'exact'; there are fast and canonical

// CHECK: nn.parameter @w : tensor<6x8xf32> {{.*}}nn.row_dimension = 1
// CHECK: nn.parameter @v : tensor<8xf32> {{.*}}nn.row_dimension = 0
// CHECK: nn.parameter @u : tensor<6x7xf32> {{.*}}nn.row_dimension = 0
// CHECK: microbatch
// CHECK: %[[LOSS:.*]] = nn.leaf %{{.*}} : tensor<f32> -> tensor<f32>
// CHECK: %[[GW:.*]] = nn.leaf %{{.*}} : tensor<6x8xf32> -> tensor<6x8xf32>
// CHECK: nn.carry ["loss", "count", "gradient/w/0", "gradient/v/0", "gradient/u/0"] ["tree", "sum", "tree", "tree", "tree"] %[[LOSS]], %{{.*}}, %[[GW]],
// CHECK: update
// CHECK: %[[W:.*]] = nn.squared_norm %arg2 rows 1 : tensor<6x8xf32> -> tensor<8xf64>
// CHECK: %[[V:.*]] = nn.squared_norm %arg3 rows 0 : tensor<8xf32> -> tensor<8xf64>
// CHECK: %[[U:.*]] = nn.squared_norm %arg4 rows 0 : tensor<6x7xf32> -> tensor<6xf64>
// CHECK: %[[ROWS:.*]] = nn.concatenate 0(%[[W]], %[[V]], %[[U]]) : (tensor<8xf64>, tensor<8xf64>, tensor<6xf64>) -> tensor<22xf64>
// CHECK: nn.reduce sum %[[ROWS]] [0] : tensor<22xf64> -> tensor<f64>
nn.parameter @w : tensor<6x8xf32> normal {deviation = 0.5}
nn.parameter @v : tensor<8xf32> normal {deviation = 0.5}
nn.parameter @u : tensor<6x7xf32> normal {deviation = 0.5}
nn.step @train microbatches(4) inputs(["x"]) attributes {objective = "loss"}
  prepare { ^bb0(%x: tensor<4x8xf32>): nn.yield }
  microbatch { ^bb0(%x: tensor<8xf32>):
    %w = nn.read @w : tensor<6x8xf32>
    %v = nn.read @v : tensor<8xf32>
    %u = nn.read @u : tensor<6x7xf32>
    %xv = nn.multiply %x, %v : tensor<8xf32>
    %y = nn.einsum "fh,h->f" (%w, %xv) : (tensor<6x8xf32>, tensor<8xf32>) -> tensor<6xf32>
    %z = nn.einsum "fg,f->g" (%u, %y) : (tensor<6x7xf32>, tensor<6xf32>) -> tensor<7xf32>
    %loss = nn.reduce sum %z [0] : tensor<7xf32> -> tensor<f32>
    %count = nn.constant dense<7> : tensor<i64>
    nn.carry ["loss", "count"] ["sum", "sum"] %loss, %count : tensor<f32>, tensor<i64> }
  update { ^bb0(%loss: tensor<f32>, %count: tensor<i64>): nn.yield ["loss"] %loss : tensor<f32> }
