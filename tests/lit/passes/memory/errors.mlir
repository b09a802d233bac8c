// The memory phase takes programs of launches, once; a call that the device refuses is said at the launch.
// RUN: weft-opt %s --weft-memory --split-input-file --verify-diagnostics

sched.program "p" microbatches(1) {
  sched.slot "x" input : tensor<4xf32>
  sched.action "a" {
    %x = sched.load "x" : tensor<4xf32>
    // expected-error @+1 {{'nn.exp' op has no place in memory: the memory phase takes launches, views, constants, loads, stores and releases}}
    %y = nn.exp %x : tensor<4xf32>
  }
}

// -----

// expected-error @+1 {{'sched.base' op stands in a program before the memory phase: every byte has its place already}}
sched.base "step" step slots(1) bytes(64)

// -----

sched.program "p" microbatches(1) {
  sched.action "a" {
    // expected-error @+1 {{'sched.launch' op cannot run on the CPU: }}
    %y = sched.launch "no_such_kernel"() {settings = {}} : () -> tensor<4xf32>
  }
}

// -----

sched.program "p" microbatches(1) {
  sched.action "a" {
    // expected-error @+1 {{'sched.launch' op cannot run on the CPU: }}
    %y = sched.launch "iota"() {settings = {dimension = array<i64: 7>}} : () -> tensor<4xi32>
  }
}

// -----

sched.program "p" microbatches(3) {
  sched.slot "x" in_flight : tensor<4xi32> {per_microbatch}
  // expected-error @+1 {{'sched.action' op "a" has values in flight and runs for 1 of 3 microbatches; memory expects a run for each}}
  sched.action "a" per_microbatch {
    %y = sched.launch "iota"() {settings = {dimension = array<i64: 0>}} : () -> tensor<4xi32>
    sched.store "x", %y : tensor<4xi32>
  }
  sched.run "a" 0
}

// -----

sched.program "p" microbatches(1) {
  sched.slot "x" input : tensor<4xf32>
  sched.action "a" {
    %x = sched.load "x" : tensor<4xf32>
    %y = sched.launch "copy"(%x) {settings = {}} : (tensor<4xf32>) -> tensor<4xf32>
    // expected-error @+1 {{'sched.launch' op sends a value that ends with this action, before the transfer does: store it to a slot, and send what is loaded from there}}
    sched.launch "send"(%y) {settings = {axes = array<i64: 0>, peer = array<i64: 1>}} : (tensor<4xf32>) -> ()
  }
}

// -----

sched.program "p" microbatches(1) {
  sched.slot "x" in_flight : tensor<4xf32> {per_microbatch}
  sched.slot "y" in_flight : tensor<4xf32> {per_microbatch}
  sched.action "a" per_microbatch {
    %x = sched.launch "receive"() {settings = {axes = array<i64: 0>, peer = array<i64: 1>}} : () -> tensor<4xf32>
    sched.store "x", %x : tensor<4xf32>
    // expected-error @+1 {{'sched.launch' op reads what is only begun to be received: store it to a slot, and load it behind the receive_wait}}
    %y = sched.launch "copy"(%x) {settings = {}} : (tensor<4xf32>) -> tensor<4xf32>
    sched.store "y", %y : tensor<4xf32>
  }
  sched.run "a" 0
}

// -----

// Two slots would need a copy of what is not there yet.
sched.program "p" microbatches(1) {
  sched.slot "x" in_flight : tensor<4xf32> {per_microbatch}
  sched.slot "y" in_flight : tensor<4xf32> {per_microbatch}
  sched.action "a" per_microbatch {
    %x = sched.launch "receive"() {settings = {axes = array<i64: 0>, peer = array<i64: 1>}} : () -> tensor<4xf32>
    sched.store "x", %x : tensor<4xf32>
    // expected-error @+1 {{'sched.launch' op reads what is only begun to be received: store it to a slot, and load it behind the receive_wait}}
    sched.store "y", %x : tensor<4xf32>
  }
  sched.run "a" 0
}

// -----

sched.program "p" microbatches(1) {
  sched.slot "x" carried : tensor<4xf32>
  sched.slot "y" output : tensor<4xf32>
  sched.action "a" {
    %old = sched.load "x" : tensor<4xf32>
    // expected-error @+1 {{'sched.launch' op receives a value that has no slot of its own in this action: store it to one that is not loaded here}}
    %x = sched.launch "receive"() {settings = {axes = array<i64: 0>, peer = array<i64: 1>}} : () -> tensor<4xf32>
    sched.store "x", %x : tensor<4xf32>
    %y = sched.launch "copy"(%old) {settings = {}} : (tensor<4xf32>) -> tensor<4xf32>
    sched.store "y", %y : tensor<4xf32>
  }
}
