// What programs, slots, actions, runs and launches refuse.
// RUN: weft-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{'sched.program' op expects at least one microbatch, got 0}}
sched.program "p" microbatches(0) { }

// -----

// expected-error @+1 {{'sched.program' op expects at least one microbatch, got -1}}
sched.program "p" microbatches(-1) { }

// -----

// expected-error @+1 {{'sched.program' op has no block arguments: inputs are slots}}
sched.program "p" microbatches(1) { ^bb0(%x: tensor<4xf32>): }

// -----

sched.program "p" microbatches(1) {
  // expected-error @+1 {{'nn.constant' op may not stand in a program: it holds slots, actions and runs}}
  %c = nn.constant dense<0.0> : tensor<4xf32>
}

// -----

sched.program "p" microbatches(1) {
  sched.slot "x" input : tensor<4xf32>
  // expected-error @+1 {{'sched.slot' op is the second of this name}}
  sched.slot "x" output : tensor<4xf32>
}

// -----

sched.program "p" microbatches(1) {
  // expected-error @+1 {{'sched.slot' op is per microbatch, but only inputs and what is in flight are}}
  sched.slot "x" output : tensor<4xf32> {per_microbatch}
}

// -----

sched.program "p" microbatches(1) {
  // expected-error @+1 {{'sched.slot' op is in flight, and so per microbatch}}
  sched.slot "x" in_flight : tensor<4xf32>
}

// -----

sched.program "p" microbatches(1) {
  sched.slot "x" output : tensor<4xf32>
  sched.action "a" per_microbatch {
    // expected-error @+1 {{'sched.release' op releases what is in flight, slot "x" is not}}
    sched.release "x"
  }
}

// -----

sched.program "p" microbatches(1) {
  sched.action "a" per_microbatch {
    // expected-error @+1 {{'sched.release' op names slot "x", which this program does not have}}
    sched.release "x"
  }
}

// -----

sched.program "p" microbatches(1) {
  // expected-error @+1 {{'sched.slot' op expects a static ranked tensor of i1, i32, i64, bf16, f16, f32 or f64, at most 16 dimensions and 2^48 bytes, got 'i32'}}
  sched.slot "x" input : i32
}

// -----

sched.program "p" microbatches(1) {
  // expected-error @+1 {{'sched.slot' op expects a static ranked tensor of i1, i32, i64, bf16, f16, f32 or f64, at most 16 dimensions and 2^48 bytes, got 'tensor<4294967296x4294967296xf32>'}}
  sched.slot "x" input : tensor<4294967296x4294967296xf32>
}

// -----

sched.program "p" microbatches(1) {
  // expected-error @+1 {{'sched.slot' op expects a static ranked tensor of i1, i32, i64, bf16, f16, f32 or f64, at most 16 dimensions and 2^48 bytes, got 'tensor<4xcomplex<f32>>'}}
  sched.slot "x" input : tensor<4xcomplex<f32>>
}

// -----

sched.program "p" microbatches(1) {
  sched.action "a" { }
  // expected-error @+1 {{'sched.action' op is the second of this name}}
  sched.action "a" { }
}

// -----

sched.program "p" microbatches(1) {
  // expected-error @+1 {{'sched.action' op has no block arguments: values come from slots}}
  sched.action "a" { ^bb0(%x: tensor<4xf32>): }
}

// -----

// expected-error @+1 {{'sched.action' op expects parent op 'sched.program'}}
sched.action "a" { }

// -----

sched.program "p" microbatches(1) {
  // expected-error @+1 {{'sched.run' op names no action of this program}}
  sched.run "a"
}

// -----

sched.program "p" microbatches(1) {
  sched.action "a" { }
  // expected-error @+1 {{'sched.run' op expects a microbatch exactly if the action is per microbatch}}
  sched.run "a" 0
}

// -----

sched.program "p" microbatches(2) {
  sched.action "a" per_microbatch { }
  // expected-error @+1 {{'sched.run' op expects a microbatch below 2, got 2}}
  sched.run "a" 2
}

// -----

sched.program "p" microbatches(2) {
  sched.action "a" per_microbatch { }
  // expected-error @+1 {{'sched.run' op expects a microbatch below 2, got -1}}
  sched.run "a" -1
}

// -----

sched.program "p" microbatches(2) {
  sched.action "a" per_microbatch { }
  // expected-error @+1 {{'sched.run' op takes microbatches in ascending order, each once: got 1}}
  sched.run "a" 1
  sched.run "a" 0
}

// -----

sched.program "p" microbatches(1) {
  sched.action "a" {
    // expected-error @+1 {{'sched.load' op names slot "x", which this program does not have}}
    %x = sched.load "x" : tensor<4xf32>
  }
}

// -----

sched.program "p" microbatches(1) {
  sched.slot "x" input : tensor<4xf32>
  sched.action "a" {
    // expected-error @+1 {{'sched.load' op expects type 'tensor<4xf32>' of slot "x", got 'tensor<5xf32>'}}
    %x = sched.load "x" : tensor<5xf32>
  }
}

// -----

sched.program "p" microbatches(2) {
  sched.slot "x" input : tensor<4xf32> {per_microbatch}
  sched.action "a" {
    // expected-error @+1 {{'sched.load' op expects a microbatch exactly if the slot is per microbatch and the action is not}}
    %x = sched.load "x" : tensor<4xf32>
  }
}

// -----

sched.program "p" microbatches(2) {
  sched.slot "x" input : tensor<4xf32> {per_microbatch}
  sched.action "a" {
    // expected-error @+1 {{'sched.load' op expects a microbatch below 2, got 2}}
    %x = sched.load "x" microbatch 2 : tensor<4xf32>
  }
}

// -----

func.func @f() {
  // expected-error @+1 {{'sched.load' op names slot "x", which this program does not have}}
  %x = sched.load "x" : tensor<4xf32>
  return
}

// -----

sched.program "p" microbatches(1) {
  sched.slot "x" input : tensor<4xf32>
  sched.action "a" {
    %x = sched.load "x" : tensor<4xf32>
    // expected-error @+1 {{'sched.store' op cannot write input "x"}}
    sched.store "x", %x : tensor<4xf32>
  }
}

// -----

sched.program "p" microbatches(1) {
  sched.slot "y" output : tensor<4xf32>
  sched.action "a" {
    %x = sched.constant dense<0.0> : tensor<4xf32>
    sched.store "y", %x : tensor<4xf32>
    // expected-error @+1 {{'sched.store' op stores to slot "y" a second time in this action}}
    sched.store "y", %x : tensor<4xf32>
  }
}

// -----

sched.program "p" microbatches(1) {
  sched.action "a" {
    %x = sched.constant dense<0.0> : tensor<4xf32>
    // expected-error @+1 {{'sched.view' op expects one element type and one number of elements, got 'tensor<4xf32>' -> 'tensor<5xf32>'}}
    %v = sched.view %x : tensor<4xf32> -> tensor<5xf32>
  }
}

// -----

sched.program "p" microbatches(1) {
  sched.action "a" {
    // expected-error @+1 {{'sched.launch' op expects setting "k" to be a string, an array<i64> or an array<f64>, got 1 : i64}}
    %y = sched.launch "iota"() {settings = {k = 1}} : () -> tensor<4xf32>
  }
}

// -----

sched.program "p" microbatches(1) {
  sched.action "a" {
    // expected-error @+1 {{'sched.launch' op expects one place per result, got 0}}
    %y = sched.launch "iota"() {settings = {}, places = []} : () -> tensor<4xf32>
  }
}

// -----

// expected-error @+1 {{'sched.base' op expects at least one slot of a multiple of 64 bytes, got 1 of 65}}
sched.base "b" step slots(1) bytes(65)

// -----

// expected-error @+1 {{'sched.base' op expects at least one slot of a multiple of 64 bytes, got 0 of 64}}
sched.base "b" step slots(0) bytes(64)

// -----

// expected-error @+1 {{'sched.base' op expects at least one slot of a multiple of 64 bytes, got 1 of -64}}
sched.base "b" step slots(1) bytes(-64)

// -----

// expected-error @+1 {{'sched.base' op expects at most 2^48 bytes, got 4294967296 slots of 4294967296}}
sched.base "b" step slots(4294967296) bytes(4294967296)
