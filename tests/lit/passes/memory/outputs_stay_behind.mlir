// An output is there when the program has ended: what an action uses that runs again later lies elsewhere, though the action
// first runs before there is an output.
// RUN: weft-opt %s --weft-memory | FileCheck %s

// CHECK:      sched.base "step" step slots(1) bytes(512)
// CHECK:      sched.slot "output/y" output : tensor<64xf32> {place = #sched.place<"step", [[OUTPUT:.*]]>}
// CHECK:      sched.action "forward"
// CHECK-NOT:  sched.launch "iota"() {places = [#sched.place<"step", [[OUTPUT]]>]
// CHECK:      sched.action "left"
// CHECK:      sched.launch "iota"() {places = [#sched.place<"step", [[OUTPUT]]>]
sched.program "p" microbatches(2) {
  sched.slot "output/y" output : tensor<64xf32>
  sched.action "forward" per_microbatch {
    %x = sched.launch "iota"() {settings = {dimension = array<i64: 0>}} : () -> tensor<64xf32>
  }
  sched.action "left" {
    %y = sched.launch "iota"() {settings = {dimension = array<i64: 0>}} : () -> tensor<64xf32>
    sched.store "output/y", %y : tensor<64xf32>
  }
  sched.run "forward" 0
  sched.run "left"
  sched.run "forward" 1
}
