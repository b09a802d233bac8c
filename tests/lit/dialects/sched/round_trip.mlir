// Every op of the sched dialect prints as it is written, and reads back from both forms.
// RUN: weft-opt %s | weft-opt | FileCheck %s
// RUN: weft-opt --mlir-print-op-generic %s | weft-opt | FileCheck %s

// CHECK:      sched.base "inputs" inputs slots(2) bytes(128)
sched.base "inputs" inputs slots(2) bytes(128)
// CHECK-NEXT: sched.base "step" step slots(1) bytes(4096)
sched.base "step" step slots(1) bytes(4096)
// CHECK-NEXT: sched.base "in_flight" slots slots(1) bytes(128)
sched.base "in_flight" slots slots(1) bytes(128)
// CHECK-NEXT: sched.base "step/in_flight/F-B" slots slots(2) bytes(64) within "in_flight" at [0, 64]
sched.base "step/in_flight/F-B" slots slots(2) bytes(64) within "in_flight" at [0, 64]
// CHECK-NEXT: sched.program "step" microbatches(2) {
sched.program "step" microbatches(2) {
  // CHECK-NEXT: sched.slot "x" input : tensor<4xf32> {per_microbatch, place = #sched.place<"inputs", 0>}
  sched.slot "x" input : tensor<4xf32> {per_microbatch, place = #sched.place<"inputs", 0>}
  // CHECK-NEXT: sched.slot "count" prepared : tensor<i64>
  sched.slot "count" prepared : tensor<i64>
  // CHECK-NEXT: sched.slot "sum" carried : tensor<2x2xf32>
  sched.slot "sum" carried : tensor<2x2xf32>
  // CHECK-NEXT: sched.slot "y" output : tensor<2x2xf32>
  sched.slot "y" output : tensor<2x2xf32>
  // CHECK-NEXT: sched.action "prepare" {
  sched.action "prepare" {
    // CHECK-NEXT: sched.load "x" microbatch 1 : tensor<4xf32>
    %x = sched.load "x" microbatch 1 : tensor<4xf32>
    // CHECK-NEXT: sched.constant dense<7> : tensor<i64> {place = #sched.place<"constants", 64>}
    %c = sched.constant dense<7> : tensor<i64> {place = #sched.place<"constants", 64>}
    // CHECK-NEXT: sched.store "count", %{{.*}} : tensor<i64>
    sched.store "count", %c : tensor<i64>
  }
  // CHECK:      sched.action "forward_backward" per_microbatch {
  sched.action "forward_backward" per_microbatch {
    // CHECK-NEXT: sched.load "x" : tensor<4xf32>
    %x = sched.load "x" : tensor<4xf32>
    // CHECK-NEXT: sched.view %{{.*}} : tensor<4xf32> -> tensor<2x2xf32>
    %v = sched.view %x : tensor<4xf32> -> tensor<2x2xf32>
    // CHECK-NEXT: sched.launch "einsum"(%{{.*}}, %{{.*}}) {places = [#sched.place<"step", 0>], settings = {equation = "ab,bc->ac"}, workspace = #sched.place<"step", 64>} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
    %y = sched.launch "einsum"(%v, %v)
      {settings = {equation = "ab,bc->ac"}, places = [#sched.place<"step", 0>], workspace = #sched.place<"step", 64>}
      : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
    // CHECK-NEXT: sched.store "sum", %{{.*}} : tensor<2x2xf32>
    sched.store "sum", %y : tensor<2x2xf32>
    // CHECK-NEXT: sched.copy %{{.*}} <"step", 128> : tensor<2x2xf32>
    sched.copy %y <"step", 128> : tensor<2x2xf32>
  }
  // CHECK:      sched.run "prepare"
  sched.run "prepare"
  // CHECK-NEXT: sched.run "forward_backward" 0
  sched.run "forward_backward" 0
  // CHECK-NEXT: sched.run "forward_backward" 1
  sched.run "forward_backward" 1
}
