// Two microbatches that are in flight at once share nothing. Both slots live from F to B, so they are one block.
// RUN: weft-opt %s --weft-memory | FileCheck %s

// CHECK:      sched.base "in_flight" slots slots(1) bytes(256) {sched.lower_bound = 256 : i64, sched.peak = [{bytes = 256 : i64, category = "activations", what = "p: 2 microbatches from F to B, each of 2 values"}]}
// CHECK-NEXT: sched.base "p/in_flight/F-B" slots slots(2) bytes(128) within "in_flight" at [0, 128]
// CHECK:      sched.slot "a" in_flight : tensor<4xf32> {per_microbatch, place = #sched.place<"p/in_flight/F-B", 0>}
// CHECK:      sched.slot "b" in_flight : tensor<4xf32> {per_microbatch, place = #sched.place<"p/in_flight/F-B", 64>}
// CHECK:      sched.action "F"
// CHECK:      sched.launch "copy"({{.*}}places = [#sched.place<"p/in_flight/F-B", 0>]
// CHECK:      sched.launch "copy"({{.*}}places = [#sched.place<"p/in_flight/F-B", 64>]
// CHECK-NOT:  sched.copy
sched.program "p" microbatches(2) {
  sched.slot "x" input : tensor<4xf32> {per_microbatch}
  sched.slot "a" in_flight : tensor<4xf32> {per_microbatch}
  sched.slot "b" in_flight : tensor<4xf32> {per_microbatch}
  sched.slot "y" output : tensor<8xf32>
  sched.action "F" per_microbatch {
    %x = sched.load "x" : tensor<4xf32>
    %a = sched.launch "copy"(%x) {settings = {}} : (tensor<4xf32>) -> tensor<4xf32>
    %b = sched.launch "copy"(%x) {settings = {}} : (tensor<4xf32>) -> tensor<4xf32>
    sched.store "a", %a : tensor<4xf32>
    sched.store "b", %b : tensor<4xf32>
  }
  sched.action "B" per_microbatch {
    %a = sched.load "a" : tensor<4xf32>
    %b = sched.load "b" : tensor<4xf32>
    %y = sched.launch "concatenate"(%a, %b) {settings = {dimension = array<i64: 0>}} : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
    sched.store "y", %y : tensor<8xf32>
  }
  sched.run "F" 0
  sched.run "F" 1
  sched.run "B" 0
  sched.run "B" 1
}
