// The program is run after every phase; a phase that changes a value is named, with what it changed.
// RUN: weft-run %s --check-phases | FileCheck %s
// CHECK:      phase          program
// CHECK:      build          train
// CHECK:      partition      train
// CHECK:      schedule       train
// CHECK-NEXT: executable     train
// CHECK-NEXT: no phase changed a value

// RUN: not weft-run %s --check-phases --sabotage lost_activation 2>&1 | FileCheck %s --check-prefix=PRECISION
// RUN: not weft-run %s --check-phases --sabotage lost_addend 2>&1 | FileCheck %s --check-prefix=PLACE
// RUN: not weft-run %s --check-phases --sabotage swapped_operands 2>&1 | FileCheck %s --check-prefix=PLACE
// RUN: not weft-run %s --check-phases --sabotage wrong_combiner 2>&1 | FileCheck %s --check-prefix=PLACE
// RUN: not weft-run %s --check-phases --sabotage drop_reduction 2>&1 | FileCheck %s --check-prefix=PARTITION
// RUN: not weft-run %s --check-phases --sabotage double_reduction 2>&1 | FileCheck %s --check-prefix=PARTITION
// RUN: not weft-run %s --check-phases --sabotage swap_axis 2>&1 | FileCheck %s --check-prefix=PARTITION
// RUN: not weft-run %s --check-phases --sabotage wrong_dimension 2>&1 | FileCheck %s --check-prefix=PARTITION
// RUN: not weft-run %s --check-phases --sabotage wrong_neutral 2>&1 | FileCheck %s --check-prefix=PARTITION
// RUN: not weft-run %s --check-phases --sabotage missing_mask 2>&1 | FileCheck %s --check-prefix=PARTITION
// RUN: not weft-run %s --check-phases --sabotage skip_keep_first 2>&1 | FileCheck %s --check-prefix=PARTITION
// RUN: not weft-run %s --check-phases --sabotage unshifted_indices 2>&1 | FileCheck %s --check-prefix=PARTITION
// RUN: not weft-run %s --check-phases --sabotage lost_microbatch 2>&1 | FileCheck %s --check-prefix=SCHEDULE
// RUN: not weft-run %s --check-phases --sabotage overwritten_sum 2>&1 | FileCheck %s --check-prefix=SCHEDULE
// RUN: not weft-run %s --check-phases --sabotage lost_write 2>&1 | FileCheck %s --check-prefix=SCHEDULE
// PRECISION: broken on purpose after precision
// PRECISION: phase precision changed what train computes
// PLACE: broken on purpose after place
// PLACE: phase place changed what train computes
// PARTITION: broken on purpose after partition
// PARTITION: phase partition changed what train computes
// SCHEDULE: broken on purpose after schedule
// SCHEDULE: phase schedule changed what train computes

// RUN: not weft-run %s --check-phases --sabotage nothing 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: --sabotage nothing: there is none of this name. There are: lost_activation, lost_addend,
// RUN: not weft-run %s --check-phases --set train.steps=3 2>&1 | FileCheck %s --check-prefix=SET
// SET: --set changes a key of a run file, and {{.*}} is a program
// RUN: not weft-run %s --check-phases --print 2>&1 | FileCheck %s --check-prefix=PRINT
// PRINT: --print excludes --check-phases

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
