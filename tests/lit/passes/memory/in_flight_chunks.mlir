// A V of two chunks. The first holds up to three microbatches, the second up to two, but never at once: four places are
// enough, not five. What is released is needed as if it were loaded.
// RUN: weft-opt %s --weft-memory | FileCheck %s

// CHECK:      sched.base "in_flight" slots slots(1) bytes(256) {sched.lower_bound = 256 : i64
// CHECK-NEXT: sched.base "p/in_flight/0F-0B" slots slots(4) bytes(64) within "in_flight" at [0, 64, 0, 128]
// CHECK-NEXT: sched.base "p/in_flight/3F-3B" slots slots(4) bytes(64) within "in_flight" at [128, 192, 64, 192]
sched.program "p" microbatches(4) {
  sched.slot "x" input : tensor<4xf32> {per_microbatch}
  sched.slot "0" in_flight : tensor<4xf32> {per_microbatch}
  sched.slot "3" in_flight : tensor<4xf32> {per_microbatch}
  sched.action "0F" per_microbatch {
    %x = sched.load "x" : tensor<4xf32>
    %k = sched.launch "copy"(%x) {settings = {}} : (tensor<4xf32>) -> tensor<4xf32>
    sched.store "0", %k : tensor<4xf32>
  }
  sched.action "3F" per_microbatch {
    %x = sched.load "x" : tensor<4xf32>
    %k = sched.launch "copy"(%x) {settings = {}} : (tensor<4xf32>) -> tensor<4xf32>
    sched.store "3", %k : tensor<4xf32>
  }
  sched.action "3B" per_microbatch {
    sched.release "3"
  }
  sched.action "0B" per_microbatch {
    sched.release "0"
  }
  sched.run "0F" 0
  sched.run "0F" 1
  sched.run "3F" 0
  sched.run "3F" 1
  sched.run "3B" 0
  sched.run "0B" 0
  sched.run "0F" 2
  sched.run "0F" 3
  sched.run "3B" 1
  sched.run "0B" 1
  sched.run "3F" 2
  sched.run "3F" 3
  sched.run "3B" 2
  sched.run "0B" 2
  sched.run "3B" 3
  sched.run "0B" 3
}
