// Two variables exchange their values: one is saved before it is overwritten.
// RUN: weft-opt %s --weft-schedule --weft-fuse --weft-memory | FileCheck %s

// CHECK:      %[[A:.*]] = nn.read @a
// CHECK:      %[[B:.*]] = nn.read @b
// CHECK:      %[[SAVED:.*]] = sched.launch "copy"(%[[B]]) {places = [#sched.place<"step", 0>]
// CHECK-NEXT: nn.write @a, %[[SAVED]]
// CHECK-NEXT: %[[MOVED:.*]] = sched.launch "copy"(%[[A]]) {places = [#sched.place<"parameters", 256>]
// CHECK-NEXT: nn.write @b, %[[MOVED]]
// CHECK-NEXT: sched.copy %[[SAVED]] <"parameters", 0> : tensor<64xf32>
nn.parameter @a : tensor<64xf32> constant
nn.parameter @b : tensor<64xf32> constant
nn.step @train microbatches(1) inputs([])
  prepare { nn.yield }
  microbatch { nn.carry [] [] }
  update {
    %a = nn.read @a : tensor<64xf32>
    %b = nn.read @b : tensor<64xf32>
    nn.write @a, %b : tensor<64xf32>
    nn.write @b, %a : tensor<64xf32>
    nn.yield }
