// A carried value accumulates in the memory of its slot: the launch that adds writes where it reads, and nothing is copied.
// RUN: weft-opt %s --weft-schedule --weft-fuse --weft-memory | FileCheck %s

// CHECK:      sched.base "train/input/x" inputs slots(2) bytes(64)
// CHECK:      sched.base "step" step slots(1) bytes(64)
// CHECK:      sched.slot "carried/sum" carried : tensor<4xf32> {place = #sched.place<"step", 0>}
// CHECK:      sched.action "forward_backward" per_microbatch
// CHECK:      sched.launch "elementwise"
// CHECK-SAME:   places = [#sched.place<"step", 0>]
// CHECK:      sched.store "carried/sum"
// CHECK-NOT:  sched.copy
nn.step @train microbatches(2) inputs(["x"])
  prepare { ^bb0(%x: tensor<2x4xf32>): nn.yield }
  microbatch { ^bb0(%x: tensor<4xf32>):
    nn.carry ["sum"] ["sum"] %x : tensor<4xf32> }
  update { ^bb0(%l: tensor<4xf32>): nn.yield }
