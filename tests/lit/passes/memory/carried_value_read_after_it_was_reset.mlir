// The second slot of an action is kept, and set back, behind the first: what is stored is copied before the slot gets its new
// value, because the place of a loaded slot is the slot's own, not that of the first one.
// RUN: weft-opt %s --weft-fuse --weft-memory | FileCheck %s

// CHECK:      sched.slot "carried/b" carried : tensor<64xf32> {place = #sched.place<"step", 256>}
// CHECK:      sched.action "fold"
// CHECK:      %[[B:.*]] = sched.load "carried/b"
// CHECK:      %[[NEUTRAL:.*]] = sched.launch "broadcast"(%{{.*}}) {places = [#sched.place<"step", 512>]
// CHECK:      %[[KEPT:.*]] = sched.launch "copy"(%[[B]]) {places = [#sched.place<"step", 768>]
// CHECK:      sched.store "kept/b", %[[KEPT]]
// CHECK:      sched.store "carried/b", %[[NEUTRAL]]
// CHECK:      sched.copy %[[NEUTRAL]] <"step", 256> : tensor<64xf32>
sched.program "step" microbatches(1) {
  sched.slot "carried/a" carried : tensor<64xf32>
  sched.slot "carried/b" carried : tensor<64xf32>
  sched.slot "kept/b" level : tensor<64xf32>
  sched.action "fold" {
    %b = sched.load "carried/b" : tensor<64xf32>
    sched.store "kept/b", %b : tensor<64xf32>
    %neutral = nn.constant dense<-0.0> : tensor<64xf32>
    sched.store "carried/b", %neutral : tensor<64xf32>
  }
  sched.run "fold"
}
