// What is in flight is stored before it is needed, and belongs to one microbatch.
// RUN: weft-opt %s --split-input-file --verify-diagnostics

sched.program "p" microbatches(2) {
  // expected-error @+1 {{'sched.slot' op "k" is in flight, but no action stores to it}}
  sched.slot "k" in_flight : tensor<4xf32> {per_microbatch}
}

// -----

sched.program "p" microbatches(2) {
  sched.slot "k" in_flight : tensor<4xf32> {per_microbatch}
  sched.action "update" {
    // expected-error @+1 {{'sched.load' op names slot "k", which is in flight: action "update" would have to be per microbatch}}
    %k = sched.load "k" microbatch 1 : tensor<4xf32>
  }
}

// -----

sched.program "p" microbatches(2) {
  sched.slot "k" in_flight : tensor<4xf32> {per_microbatch}
  sched.action "prepare" {
    %c = sched.constant dense<0.0> : tensor<4xf32>
    // expected-error @+1 {{'sched.store' op names slot "k", which is in flight: action "prepare" would have to be per microbatch}}
    sched.store "k", %c : tensor<4xf32>
  }
}

// -----

sched.program "p" microbatches(2) {
  sched.slot "k" in_flight : tensor<4xf32> {per_microbatch}
  sched.action "0F" per_microbatch {
    %c = sched.constant dense<0.0> : tensor<4xf32>
    sched.store "k", %c : tensor<4xf32>
  }
  sched.action "0B" per_microbatch {
    %k = sched.load "k" : tensor<4xf32>
  }
  sched.run "0F" 0
  sched.run "0B" 0
  // expected-error @+1 {{'sched.run' op runs "0B" for microbatch 1, which loads slot "k", before any run stored it}}
  sched.run "0B" 1
  sched.run "0F" 1
}

// -----

sched.program "p" microbatches(1) {
  sched.slot "k" in_flight : tensor<4xf32> {per_microbatch}
  sched.action "0F" per_microbatch {
    %c = sched.constant dense<0.0> : tensor<4xf32>
    sched.store "k", %c : tensor<4xf32>
  }
  sched.action "0F.send_wait" per_microbatch {
    sched.release "k"
  }
  // expected-error @+1 {{'sched.run' op runs "0F.send_wait" for microbatch 0, which releases slot "k", before any run stored it}}
  sched.run "0F.send_wait" 0
  sched.run "0F" 0
}

// -----

// An action does not see what it stores itself.
sched.program "p" microbatches(1) {
  sched.slot "k" in_flight : tensor<4xf32> {per_microbatch}
  sched.action "0F" per_microbatch {
    %k = sched.load "k" : tensor<4xf32>
    sched.store "k", %k : tensor<4xf32>
  }
  // expected-error @+1 {{'sched.run' op runs "0F" for microbatch 0, which loads slot "k", before any run stored it}}
  sched.run "0F" 0
}

// -----

// expected-error @+1 {{'sched.base' op expects an offset per slot exactly if it lies within another base, got 1 for 2 slots}}
sched.base "b" slots slots(2) bytes(64) within "in_flight" at [0]

// -----

// expected-error @+1 {{'sched.base' op expects offsets that are multiples of 64, got 32}}
sched.base "b" slots slots(1) bytes(64) within "in_flight" at [32]

// -----

// expected-error @+1 {{'sched.base' op expects offsets that are multiples of 64, got -64}}
sched.base "b" slots slots(1) bytes(64) within "in_flight" at [-64]
