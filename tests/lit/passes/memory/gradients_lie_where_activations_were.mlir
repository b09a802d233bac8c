// Of one microbatch, a gradient is there from the command that computes it: it lies where an activation was that is gone by then.
// Of two, it is carried from the first to the second, and shares bytes with nothing that the second uses.
// RUN: weft-opt %s --weft-memory --split-input-file | FileCheck %s

// CHECK:      sched.base "step" step slots(1) bytes(512)
// CHECK:      sched.program "one"
// CHECK-SAME: sched.lower_bound = 512
// CHECK:      sched.slot "carried/gradient/w/0" carried : tensor<64xf32> {place = #sched.place<"step", [[GRADIENT:.*]]>}
// CHECK:      sched.launch "iota"() {places = [#sched.place<"step", [[GRADIENT]]>]
// CHECK-NEXT: sched.launch "concatenate"
// CHECK-NEXT: sched.launch "slice"({{.*}}places = [#sched.place<"step", [[GRADIENT]]>]
sched.program "one" microbatches(1) {
  sched.slot "carried/gradient/w/0" carried : tensor<64xf32>
  sched.action "forward_backward" per_microbatch {
    %a = sched.launch "iota"() {settings = {dimension = array<i64: 0>}} : () -> tensor<64xf32>
    %b = sched.launch "concatenate"(%a) {settings = {dimension = array<i64: 0>}} : (tensor<64xf32>) -> tensor<64xf32>
    %g = sched.launch "slice"(%b) {settings = {offsets = array<i64: 0>, strides = array<i64: 1>}} : (tensor<64xf32>) -> tensor<64xf32>
    sched.store "carried/gradient/w/0", %g : tensor<64xf32>
  }
  sched.action "update" {
    %g = sched.load "carried/gradient/w/0" : tensor<64xf32>
    %n = sched.launch "reduce"(%g) {settings = {dimensions = array<i64: 0>, kind = "sum"}} : (tensor<64xf32>) -> tensor<f32>
  }
  sched.run "forward_backward" 0
  sched.run "update"
}

// -----

// CHECK:      sched.base "step" step slots(1) bytes(768)
// CHECK:      sched.program "two"
// CHECK:      sched.slot "carried/gradient/w/0" carried : tensor<64xf32> {place = #sched.place<"step", [[GRADIENT:.*]]>}
// CHECK-NOT:  places = [#sched.place<"step", [[GRADIENT]]>]
// CHECK:      sched.launch "slice"({{.*}}places = [#sched.place<"step", [[GRADIENT]]>]
sched.program "two" microbatches(2) {
  sched.slot "carried/gradient/w/0" carried : tensor<64xf32>
  sched.action "forward_backward" per_microbatch {
    %a = sched.launch "iota"() {settings = {dimension = array<i64: 0>}} : () -> tensor<64xf32>
    %b = sched.launch "concatenate"(%a) {settings = {dimension = array<i64: 0>}} : (tensor<64xf32>) -> tensor<64xf32>
    %g = sched.launch "slice"(%b) {settings = {offsets = array<i64: 0>, strides = array<i64: 1>}} : (tensor<64xf32>) -> tensor<64xf32>
    sched.store "carried/gradient/w/0", %g : tensor<64xf32>
  }
  sched.action "update" {
    %g = sched.load "carried/gradient/w/0" : tensor<64xf32>
    %n = sched.launch "reduce"(%g) {settings = {dimensions = array<i64: 0>, kind = "sum"}} : (tensor<64xf32>) -> tensor<f32>
  }
  sched.run "forward_backward" 0
  sched.run "forward_backward" 1
  sched.run "update"
}
