// RUN: weft-opt %s --weft-partition --weft-schedule --weft-fuse | FileCheck %s
// A ring of three ranks: three steps, between them a shift of whatever travels; what comes home moves once more. What
// travels under two names moves once.

#mesh = #dist.mesh<c0 = 3 : context = [c0]>
!q = tensor<1x6x2x4xf32, #dist.at<#mesh, [], [c0], [], []>>
!i = tensor<1x6xi32, #dist.at<#mesh, [], [c0]>>
!lse = tensor<1x2x6xf32, #dist.at<#mesh, [], [], [c0]>>
module attributes {dist.mesh = #mesh} {
// CHECK-LABEL: sched.program "forward"
func.func @forward(%q: !q, %k: !q, %v: !q, %i: !i) -> !q {
  // CHECK-DAG: %[[Q:.*]] = sched.load "input/0"
  // CHECK-DAG: %[[K:.*]] = sched.load "input/1"
  // CHECK-DAG: %[[V:.*]] = sched.load "input/2"
  // CHECK-DAG: %[[I:.*]] = sched.load "input/3"
  // CHECK: %[[A:.*]]:2 = sched.launch "attention"(%[[Q]], %[[K]], %[[V]], %[[I]], %[[I]])
  // CHECK: %[[K1:.*]] = sched.launch "shift"(%[[K]])
  // CHECK-SAME: axes = array<i64: 0>
  // CHECK: %[[V1:.*]] = sched.launch "shift"(%[[V]])
  // CHECK: %[[I1:.*]] = sched.launch "shift"(%[[I]])
  // The rank's own queries and positions stay.
  // CHECK: %[[B:.*]]:2 = sched.launch "attention"(%[[Q]], %[[K1]], %[[V1]], %[[I]], %[[I1]])
  // CHECK: %[[AB:.*]]:2 = sched.launch "attention_merge"(%[[A]]#0, %[[A]]#1, %[[B]]#0, %[[B]]#1)
  // CHECK: %[[K2:.*]] = sched.launch "shift"(%[[K1]])
  // CHECK: %[[V2:.*]] = sched.launch "shift"(%[[V1]])
  // CHECK: %[[I2:.*]] = sched.launch "shift"(%[[I1]])
  // CHECK: %[[C:.*]]:2 = sched.launch "attention"(%[[Q]], %[[K2]], %[[V2]], %[[I]], %[[I2]])
  // CHECK: %[[ABC:.*]]:2 = sched.launch "attention_merge"(%[[AB]]#0, %[[AB]]#1, %[[C]]#0, %[[C]]#1)
  // CHECK-NOT: shift
  // CHECK: sched.store "output/0", %[[ABC]]#0
  %o, %l = nn.attention %q, %k, %v positions(%i, %i) {causal, ring, scale = 0.5 : f64} : (!q, !q, !q, !i, !i) -> (!q, !lse)
  return %o : !q
}

// Twice in a ring of three keys, values and their positions move on; their gradients, three times.
// CHECK-LABEL: sched.program "backward"
// CHECK-COUNT-12: sched.launch "shift"
// CHECK-NOT: sched.launch "shift"
func.func @backward(%g: !q, %q: !q, %k: !q, %v: !q, %o: !q, %l: !lse, %i: !i) -> (!q, !q, !q) {
  %dq, %dk, %dv = nn.attention_backward %g, %q, %k, %v, %o, %l positions(%i, %i) {causal, ring, scale = 0.5 : f64} : (!q, !q, !q, !q, !q, !lse, !i, !i) -> (!q, !q, !q)
  return %dq, %dk, %dv : !q, !q, !q
}

// CHECK-LABEL: sched.program "one_block_under_two_names"
// CHECK-COUNT-4: sched.launch "shift"
// CHECK-NOT: sched.launch "shift"
func.func @one_block_under_two_names(%q: !q, %k: !q, %i: !i) -> !q {
  %o, %l = nn.attention %q, %k, %k positions(%i, %i) {causal, ring, scale = 0.5 : f64} : (!q, !q, !q, !i, !i) -> (!q, !lse)
  return %o : !q
}
}
