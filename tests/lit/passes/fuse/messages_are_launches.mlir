// Messages between ranks of a pipeline become launches, which stay though nobody uses a result. Both ends of a
// message say where its value is from; a wait is for whatever is next. A term of a sum was there for the types.
// RUN: weft-opt %s --weft-fuse --mlir-print-local-scope | FileCheck %s
// RUN: sed 's/_wait to 1 over \["p0"\]/_wait to 1 over ["q0"]/' %s | not weft-opt --weft-fuse 2>&1 | FileCheck %s --check-prefix=ERROR

#mesh = #dist.mesh<p0 = 2, t0 = 2 : pipeline = [p0], tensor = [t0]>
#part = #dist.local<#mesh, 4x8, [], [t0]>
#whole = #dist.local<#mesh, >
#pending = #dist.local<#mesh, , sum [p0]>
module attributes {dist.mesh = #mesh} {
sched.program "step" microbatches(1) {
  sched.slot "output" carried : tensor<4x4xf32, #part>
  sched.slot "cotangent" carried : tensor<4x4xf32, #part>
  sched.slot "norm" carried : tensor<f64, #whole>

  // CHECK-LABEL: sched.action "0F.send"
  // CHECK-NEXT: %[[X:.*]] = sched.load "output" : tensor<4x4xf32>
  // CHECK-NEXT: sched.launch "send"(%[[X]]) {settings = {axes = array<i64: 0>, location = "boundary 1", peer = array<i64: 1>}} : (tensor<4x4xf32>) -> ()
  // CHECK-NEXT: }
  sched.action "0F.send" {
    %x = sched.load "output" : tensor<4x4xf32, #part>
    dist.send %x to 1 over ["p0"] : tensor<4x4xf32, #part> loc("boundary 1")
  }
  // CHECK-LABEL: sched.action "0F.send_wait"
  // CHECK-NEXT: sched.launch "send_wait"() {settings = {axes = array<i64: 0>, peer = array<i64: 1>}} : () -> ()
  sched.action "0F.send_wait" {
    dist.send_wait to 1 over ["p0"] loc("boundary 1")
  }
  // CHECK-LABEL: sched.action "0B.receive"
  // CHECK-NEXT: %[[G:.*]] = sched.launch "receive"() {settings = {axes = array<i64: 0>, location = "boundary 1", peer = array<i64: 1>}} : () -> tensor<4x4xf32>
  // CHECK-NEXT: sched.store "cotangent", %[[G]] : tensor<4x4xf32>
  sched.action "0B.receive" {
    %g = dist.receive from 1 over ["p0"] : tensor<4x4xf32, #part> loc("boundary 1")
    sched.store "cotangent", %g : tensor<4x4xf32, #part>
  }
  // CHECK-LABEL: sched.action "0B.receive_wait"
  // CHECK-NEXT: sched.launch "receive_wait"()
  sched.action "0B.receive_wait" {
    dist.receive_wait from 1 over ["p0"]
  }
  // A receive that nobody stores is still one that the other rank sends.
  // CHECK-LABEL: sched.action "unused"
  // CHECK-NEXT: sched.launch "receive"()
  sched.action "unused" {
    %g = dist.receive from 1 over ["p0"] : tensor<4x4xf32, #part>
  }
  // CHECK-LABEL: sched.action "norm"
  // CHECK-NEXT: %[[N:.*]] = sched.load "norm" : tensor<f64>
  // CHECK-NEXT: %[[SUM:.*]] = sched.launch "all_reduce"(%[[N]]) {settings = {axes = array<i64: 0>, kind = "sum"
  // CHECK-NEXT: sched.store "norm", %[[SUM]] : tensor<f64>
  sched.action "norm" {
    %n = sched.load "norm" : tensor<f64, #whole>
    %term = dist.term %n over ["p0"] : tensor<f64, #whole> -> tensor<f64, #pending>
    %t = dist.all_reduce.start sum %term over ["p0"]
      : tensor<f64, #pending> -> !dist.token<tensor<f64, #whole>>
    %sum = dist.wait %t : !dist.token<tensor<f64, #whole>>
    sched.store "norm", %sum : tensor<f64, #whole>
  }
  sched.run "0F.send"
  sched.run "0B.receive"
  sched.run "0F.send_wait"
  sched.run "0B.receive_wait"
  sched.run "unused"
  sched.run "norm"
}
}
// ERROR: error: {{.*}}'dist.send_wait' op names the axis "q0", which #dist.mesh<p0 = 2, t0 = 2{{.*}}> does not have
