// Of three microbatches two are in flight at once: the third one's value takes the first one's place. The run that ends a
// value still needs it, so what begins in that run lies elsewhere.
// RUN: weft-opt %s --weft-memory | FileCheck %s

// CHECK:      sched.base "in_flight" slots slots(1) bytes(128)
// CHECK-NEXT: sched.base "p/in_flight/F-B" slots slots(3) bytes(64) within "in_flight" at [0, 64, 0]
// CHECK:      sched.base "q/in_flight/F-B" slots slots(1) bytes(64) within "in_flight" at [0]
// CHECK:      sched.base "q/in_flight/B-C" slots slots(1) bytes(64) within "in_flight" at [64]
sched.program "p" microbatches(3) {
  sched.slot "x" input : tensor<4xf32> {per_microbatch}
  sched.slot "kept" in_flight : tensor<4xf32> {per_microbatch}
  sched.slot "y" output : tensor<4xf32>
  sched.action "F" per_microbatch {
    %x = sched.load "x" : tensor<4xf32>
    %k = sched.launch "copy"(%x) {settings = {}} : (tensor<4xf32>) -> tensor<4xf32>
    sched.store "kept", %k : tensor<4xf32>
  }
  sched.action "B" per_microbatch {
    %k = sched.load "kept" : tensor<4xf32>
    %y = sched.launch "copy"(%k) {settings = {}} : (tensor<4xf32>) -> tensor<4xf32>
    sched.store "y", %y : tensor<4xf32>
  }
  sched.run "F" 0
  sched.run "F" 1
  sched.run "B" 0
  sched.run "F" 2
  sched.run "B" 1
  sched.run "B" 2
}

// All programs share the region.
sched.program "q" microbatches(1) {
  sched.slot "x" input : tensor<4xf32> {per_microbatch}
  sched.slot "kept" in_flight : tensor<4xf32> {per_microbatch}
  sched.slot "passed" in_flight : tensor<4xf32> {per_microbatch}
  sched.slot "y" output : tensor<4xf32>
  sched.action "F" per_microbatch {
    %x = sched.load "x" : tensor<4xf32>
    %k = sched.launch "copy"(%x) {settings = {}} : (tensor<4xf32>) -> tensor<4xf32>
    sched.store "kept", %k : tensor<4xf32>
  }
  sched.action "B" per_microbatch {
    %k = sched.load "kept" : tensor<4xf32>
    %p = sched.launch "copy"(%k) {settings = {}} : (tensor<4xf32>) -> tensor<4xf32>
    sched.store "passed", %p : tensor<4xf32>
  }
  sched.action "C" per_microbatch {
    %p = sched.load "passed" : tensor<4xf32>
    %y = sched.launch "copy"(%p) {settings = {}} : (tensor<4xf32>) -> tensor<4xf32>
    sched.store "y", %y : tensor<4xf32>
  }
  sched.run "F" 0
  sched.run "B" 0
  sched.run "C" 0
}
