// What the first action to name a slot loads is older than the program: the slot has its place for itself all the time.
// RUN: weft-opt %s --weft-memory | FileCheck %s

// CHECK:      sched.base "step" step slots(1) bytes(512)
// CHECK:      sched.slot "carried/x" carried : tensor<64xf32> {place = #sched.place<"step", [[SLOT:.*]]>}
// CHECK:      sched.action "before"
// CHECK-NOT:  sched.launch "iota"() {places = [#sched.place<"step", [[SLOT]]>]
// CHECK:      sched.action "add"
sched.program "p" microbatches(1) {
  sched.slot "carried/x" carried : tensor<64xf32>
  sched.action "before" {
    %a = sched.launch "iota"() {settings = {dimension = array<i64: 0>}} : () -> tensor<64xf32>
  }
  sched.action "add" {
    %old = sched.load "carried/x" : tensor<64xf32>
    %new = sched.launch "copy"(%old) {settings = {}} : (tensor<64xf32>) -> tensor<64xf32>
    sched.store "carried/x", %new : tensor<64xf32>
  }
  sched.run "before"
  sched.run "add"
}
