// Behind `fuse` every pipeline rank runs the part that its module was emitted as: the two meet in the sum over p0. A variable is
// what the ranks left that hold it, and what both hold has the same bits.
// RUN: weft-opt %s --pass-pipeline='builtin.module(builtin.module(weft-fuse))' -o %t.fuse.mlir
// RUN: weft-run %t.fuse.mlir --seed 1 > %t.planned_there
// RUN: FileCheck %s --input-file %t.planned_there
// RUN: weft-opt %t.fuse.mlir --pass-pipeline='builtin.module(builtin.module(weft-memory))' | weft-run - --seed 1 | diff %t.planned_there -

// CHECK:      total: tensor<4xf32> = [10, 10, 10, 10]
// CHECK-NEXT: @first: tensor<4xf32> = [13, 13, 13, 13]
// CHECK-NEXT: @shared: tensor<4xf32> = [18, 18, 18, 18]

// RUN: sed -e 's/nn.add \(.total\)/nn.multiply \1/' %s | weft-opt - --pass-pipeline='builtin.module(builtin.module(weft-fuse))' | not weft-run - 2>&1 | FileCheck %s --check-prefix=BITS
// BITS: shared: ranks hold different values of what is whole on each
#mesh = #dist.mesh<p0 = 2, d0 = 2 : pipeline = [p0], data = [d0]>
module attributes {dist.mesh = #mesh} {
  module @pipeline_rank_0 attributes {dist.mesh = #mesh, sched.pipeline_rank = 0 : i64} {
    nn.parameter @first : tensor<4xf32> constant {mean = 3.0}
    nn.parameter @shared : tensor<4xf32> constant {mean = 8.0}
    sched.program "step" microbatches(1) {
      sched.slot "output/total" output : tensor<4xf32>
      sched.action "0F" {
        %first = nn.read @first : tensor<4xf32>
        %double = nn.add %first, %first : tensor<4xf32>
        %total = sched.launch "all_reduce"(%double) {settings = {axes = array<i64: 0>, kind = "sum"}} : (tensor<4xf32>) -> tensor<4xf32>
        sched.store "output/total", %total : tensor<4xf32>
        %moved = nn.add %first, %total : tensor<4xf32>
        nn.write @first, %moved : tensor<4xf32>
        %shared = nn.read @shared : tensor<4xf32>
        %new = nn.add %shared, %total : tensor<4xf32>
        nn.write @shared, %new : tensor<4xf32>
      }
      sched.run "0F"
    }
  }
  module @pipeline_rank_1 attributes {dist.mesh = #mesh, sched.pipeline_rank = 1 : i64} {
    nn.parameter @last : tensor<4xf32> constant {mean = 2.0}
    nn.parameter @shared : tensor<4xf32> constant {mean = 8.0}
    sched.program "step" microbatches(1) {
      sched.slot "output/total" output : tensor<4xf32>
      sched.action "1F" {
        %last = nn.read @last : tensor<4xf32>
        %square = nn.multiply %last, %last : tensor<4xf32>
        %total = sched.launch "all_reduce"(%square) {settings = {axes = array<i64: 0>, kind = "sum"}} : (tensor<4xf32>) -> tensor<4xf32>
        sched.store "output/total", %total : tensor<4xf32>
        %shared = nn.read @shared : tensor<4xf32>
        %new = nn.add %total, %shared : tensor<4xf32>
        nn.write @shared, %new : tensor<4xf32>
      }
      sched.run "1F"
    }
  }
}
