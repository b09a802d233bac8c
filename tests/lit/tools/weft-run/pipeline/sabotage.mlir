// A cut that loses something is named, as every other phase is.
// RUN: not weft-run %s --check-phases --sabotage doubled_microbatch 2>&1 | FileCheck %s --check-prefixes=CHECK,DOUBLED
// RUN: not weft-run %s --check-phases --sabotage lost_microbatch 2>&1 | FileCheck %s --check-prefixes=CHECK,LOST
// RUN: not weft-run %s --check-phases --sabotage lost_message 2>&1 | FileCheck %s --check-prefixes=CHECK,MESSAGE
// RUN: not weft-run %s --check-phases --sabotage zero_message 2>&1 | FileCheck %s --check-prefixes=CHECK,ZERO
// RUN: not weft-run %s --check-phases --sabotage lost_term 2>&1 | FileCheck %s --check-prefixes=CHECK,TERM
// RUN: not weft-run %s --check-phases --sabotage overwritten_sum 2>&1 | FileCheck %s --check-prefixes=CHECK,OVERWRITTEN
// RUN: not weft-run %s --check-phases --sabotage lost_write 2>&1 | FileCheck %s --check-prefixes=CHECK,WRITE
// CHECK:      broken on purpose after schedule
// CHECK:      phase schedule changed what train computes
// DOUBLED:    carried gradient/{{.*}}: error
// LOST:       reads slot "stage_0/forward/{{.*}}" of microbatch 1 before anything is stored there
// MESSAGE:    of microbatch 0 before anything is stored there
// ZERO:       loss: error
// TERM:       grad_norm: error
// OVERWRITTEN: carried gradient/{{.*}}: error
// WRITE:      @optimizer.step ends with different values on pipeline ranks 0 and 1

#mesh = #dist.mesh<p0 = 2, t0 = 2 : data = [], data_replicate = [], data_shard = [], pipeline = [p0], tensor = [t0]>
module attributes {dist.mesh = #mesh} {
  nn.parameter @embed : tensor<11x8xf32> normal {deviation = 0.5, nn.tensor_dimension = 0 : i64}
  nn.parameter @w0 : tensor<8x8xf32> normal {deviation = 0.5, nn.tensor_dimension = 0 : i64}
  nn.parameter @w1 : tensor<8x8xf32> normal {deviation = 0.5, nn.tensor_dimension = 0 : i64}
  nn.step @train microbatches(3) inputs(["targets", "tokens"]) attributes {objective = "loss"}
    prepare { ^bb0(%targets: tensor<3x4x6xi32>, %tokens: tensor<3x4x6xi32>):
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
      %last = nn.boundary 2 %h1 : tensor<4x6x8xf32>
      %head = nn.read @embed : tensor<11x8xf32>
      %l, %zl, %lse = nn.linear_cross_entropy %last, %head, %targets : (tensor<4x6x8xf32>, tensor<11x8xf32>, tensor<4x6xi32>) -> (tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>)
      %loss = nn.reduce sum %l [0, 1] : tensor<4x6xf32> -> tensor<f32>
      nn.carry ["loss"] ["sum"] %loss : tensor<f32> }
    update { ^bb0(%loss: tensor<f32>): nn.yield ["loss"] %loss : tensor<f32> }
}
