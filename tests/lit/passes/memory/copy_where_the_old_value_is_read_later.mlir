// Where the variable's old value is still read, the new one is computed elsewhere and copied when the action ends.
// RUN: weft-opt %s --weft-schedule --weft-fuse --weft-memory | FileCheck %s

// CHECK:      nn.parameter @w : tensor<32xf32> constant {sched.place = #sched.place<"parameters", 0>}
// CHECK:      sched.action "update"
// CHECK:      %[[OLD:.*]] = nn.read @w
// CHECK:      %[[NEW:.*]] = sched.launch "elementwise"(%[[OLD]]) {places = [#sched.place<"step", 0>]
// CHECK:      sched.launch "reduce"(%[[OLD]])
// CHECK:      nn.write @w, %[[NEW]]
// CHECK:      sched.copy %[[NEW]] <"parameters", 0> : tensor<32xf32>
nn.parameter @w : tensor<32xf32> constant
nn.step @train microbatches(1) inputs([])
  prepare { nn.yield }
  microbatch { nn.carry [] [] }
  update {
    %w = nn.read @w : tensor<32xf32>
    %new = nn.exp %w : tensor<32xf32>
    nn.write @w, %new : tensor<32xf32>
    %used = nn.reduce sum %new [0] : tensor<32xf32> -> tensor<f32>
    %old = nn.reduce sum %w [0] : tensor<32xf32> -> tensor<f32>
    nn.yield ["new", "old"] %used, %old : tensor<f32>, tensor<f32> }
