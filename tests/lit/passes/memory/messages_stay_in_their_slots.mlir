// A message is sent from the slot that its value is in, and received in the slot that it is for: nothing is copied
// in an action that only begins it.
// RUN: weft-opt %s --weft-fuse --weft-memory | FileCheck %s

#mesh = #dist.mesh<p0 = 2 : pipeline = [p0]>
#part = #dist.local<#mesh, 4x8, [], []>
module attributes {dist.mesh = #mesh} {
sched.program "step" microbatches(1) {
  // CHECK-DAG: sched.slot "output" carried : tensor<4x8xf32> {{.*}}place = #sched.place<"step", 0>}
  // CHECK-DAG: sched.slot "cotangent" carried : tensor<4x8xf32> {{.*}}place = #sched.place<"step", 128>}
  sched.slot "output" carried : tensor<4x8xf32, #part>
  sched.slot "cotangent" carried : tensor<4x8xf32, #part>
  // CHECK-LABEL: sched.action "send"
  // CHECK: %[[X:.*]] = sched.load "output"
  // CHECK-NEXT: sched.launch "send"(%[[X]])
  // CHECK-NOT: copy
  sched.action "send" {
    %x = sched.load "output" : tensor<4x8xf32, #part>
    dist.send %x to 1 over ["p0"] : tensor<4x8xf32, #part>
  }
  // CHECK-LABEL: sched.action "receive"
  // CHECK: sched.launch "receive"() {places = [#sched.place<"step", 128>]
  // CHECK-NOT: copy
  sched.action "receive" {
    %g = dist.receive from 1 over ["p0"] : tensor<4x8xf32, #part>
    sched.store "cotangent", %g : tensor<4x8xf32, #part>
  }
  sched.action "wait" {
    dist.send_wait to 1 over ["p0"]
    dist.receive_wait from 1 over ["p0"]
  }
  sched.run "send"
  sched.run "receive"
  sched.run "wait"
}
}
