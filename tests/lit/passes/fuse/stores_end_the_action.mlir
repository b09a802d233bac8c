// A store takes effect when the action ends, wherever it is written: it never stands before the launch that it needs.
// RUN: weft-opt %s --weft-fuse | FileCheck %s

// CHECK:      %[[Y:.*]]:2 = sched.launch "elementwise"
// CHECK-NEXT: sched.store "s", %[[Y]]#0
// CHECK-NEXT: sched.store "t", %[[Y]]#1
sched.program "p" microbatches(1) {
  sched.slot "x" input : tensor<4xf32>
  sched.slot "s" output : tensor<4xf32>
  sched.slot "t" output : tensor<4xf32>
  sched.action "a" {
    %x = sched.load "x" : tensor<4xf32>
    %s = nn.exp %x : tensor<4xf32>
    sched.store "s", %s : tensor<4xf32>
    %t = nn.tanh %s : tensor<4xf32>
    sched.store "t", %t : tensor<4xf32>
  }
  sched.run "a"
}
