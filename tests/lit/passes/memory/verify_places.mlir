// Plans with a mistake in them, each refused where a value would be lost; beside them what is no mistake.
// RUN: weft-opt %s --weft-verify-places --split-input-file --verify-diagnostics

// A result in the place of an operand that nothing reads later.
sched.program "p" microbatches(1) {
  sched.action "a" {
    %x = sched.launch "iota"() {places = [#sched.place<"step", 0>], settings = {dimension = array<i64: 0>}} : () -> tensor<64xf32>
    %y = sched.launch "copy"(%x) {places = [#sched.place<"step", 256>], settings = {}} : (tensor<64xf32>) -> tensor<64xf32>
    %z = sched.launch "copy"(%y) {places = [#sched.place<"step", 0>], settings = {}} : (tensor<64xf32>) -> tensor<64xf32>
  }
  sched.run "a"
}

// -----

sched.program "p" microbatches(1) {
  sched.action "a" {
    %x = sched.launch "iota"() {places = [#sched.place<"step", 0>], settings = {dimension = array<i64: 0>}} : () -> tensor<64xf32>
    // expected-note @+1 {{they hold what is from here}}
    %y = sched.launch "iota"() {places = [#sched.place<"step", 192>], settings = {dimension = array<i64: 0>}} : () -> tensor<64xf32>
    // expected-error @+1 {{'sched.launch' op operand 0 is not where it lies: bytes 0 to 255 of base 'step' do not hold it}}
    %z = sched.launch "concatenate"(%x, %y) {places = [#sched.place<"step", 512>], settings = {dimension = array<i64: 0>}} : (tensor<64xf32>, tensor<64xf32>) -> tensor<128xf32>
  }
  sched.run "a"
}

// -----

// A workspace is written by its command.
sched.program "p" microbatches(1) {
  sched.action "a" {
    %x = sched.launch "iota"() {places = [#sched.place<"step", 0>], settings = {dimension = array<i64: 0>}} : () -> tensor<64xf32>
    // expected-note @+1 {{they hold what is from here}}
    %y = sched.launch "iota"() {places = [#sched.place<"step", 256>], settings = {dimension = array<i64: 0>}, workspace = #sched.place<"step", 128>, workspace_bytes = 64 : i64} : () -> tensor<64xf32>
    // expected-error @+1 {{'sched.launch' op operand 0 is not where it lies: bytes 0 to 255 of base 'step' do not hold it}}
    %z = sched.launch "copy"(%x) {places = [#sched.place<"step", 512>], settings = {}} : (tensor<64xf32>) -> tensor<64xf32>
  }
  sched.run "a"
}

// -----

// Two slots in one place.
// expected-note @+3 {{they hold what is from here}}
sched.program "p" microbatches(1) {
  sched.slot "x" carried : tensor<64xf32> {place = #sched.place<"step", 0>}
  sched.slot "y" carried : tensor<64xf32> {place = #sched.place<"step", 0>}
  sched.action "a" {
    %x = sched.load "x" : tensor<64xf32>
    %y = sched.load "y" : tensor<64xf32>
    // expected-error @+1 {{'sched.launch' op operand 0 is not where it lies: bytes 0 to 255 of base 'step' do not hold it}}
    %z = sched.launch "concatenate"(%x, %y) {places = [#sched.place<"step", 512>], settings = {dimension = array<i64: 0>}} : (tensor<64xf32>, tensor<64xf32>) -> tensor<128xf32>
  }
  sched.run "a"
}

// -----

// The slot is elsewhere, and nothing is copied there.
sched.program "p" microbatches(1) {
  sched.slot "x" carried : tensor<64xf32> {place = #sched.place<"step", 256>}
  sched.action "a" {
    %x = sched.launch "iota"() {places = [#sched.place<"step", 0>], settings = {dimension = array<i64: 0>}} : () -> tensor<64xf32>
    // expected-error @+1 {{'sched.store' op stored value is not where it lies: bytes 256 to 511 of base 'step' do not hold it}}
    sched.store "x", %x : tensor<64xf32>
  }
  sched.run "a"
}

// -----

// A copy at the end writes over another.
nn.parameter @w : tensor<64xf32> constant {sched.place = #sched.place<"parameters", 0>}
sched.program "p" microbatches(1) {
  sched.slot "x" carried : tensor<64xf32> {place = #sched.place<"step", 256>}
  sched.action "a" {
    %x = sched.launch "iota"() {places = [#sched.place<"step", 0>], settings = {dimension = array<i64: 0>}} : () -> tensor<64xf32>
    // expected-note @+1 {{they hold what is from here}}
    %y = sched.launch "iota"() {places = [#sched.place<"step", 512>], settings = {dimension = array<i64: 0>}} : () -> tensor<64xf32>
    // expected-error @+1 {{'sched.store' op stored value is not where it lies: bytes 256 to 511 of base 'step' do not hold it}}
    sched.store "x", %x : tensor<64xf32>
    nn.write @w, %y : tensor<64xf32>
    sched.copy %x <"step", 256> : tensor<64xf32>
    sched.copy %y <"step", 256> : tensor<64xf32>
    sched.copy %y <"parameters", 0> : tensor<64xf32>
  }
  sched.run "a"
}

// -----

// The order of runs: "forward" is behind "left" once more, and its value lies where "left" left one.
sched.program "p" microbatches(2) {
  sched.slot "kept" carried : tensor<64xf32> {place = #sched.place<"step", 0>}
  // expected-note @+1 {{the action is here}}
  sched.action "forward" per_microbatch {
    %x = sched.launch "iota"() {places = [#sched.place<"step", 0>], settings = {dimension = array<i64: 0>}} : () -> tensor<64xf32>
  }
  sched.action "left" {
    %x = sched.launch "iota"() {places = [#sched.place<"step", 0>], settings = {dimension = array<i64: 0>}} : () -> tensor<64xf32>
    sched.store "kept", %x : tensor<64xf32>
  }
  sched.action "update" {
    %x = sched.load "kept" : tensor<64xf32>
  }
  sched.run "forward" 0
  sched.run "left"
  sched.run "forward" 1
  // expected-error @+1 {{'sched.run' op loads slot "kept", whose bytes action "forward" wrote over}}
  sched.run "update"
}

// -----

// As it was, with the last two the other way about, nothing is lost: until then "forward" has the place for itself.
sched.program "p" microbatches(2) {
  sched.slot "kept" carried : tensor<64xf32> {place = #sched.place<"step", 0>}
  sched.action "forward" per_microbatch {
    %x = sched.launch "iota"() {places = [#sched.place<"step", 0>], settings = {dimension = array<i64: 0>}} : () -> tensor<64xf32>
  }
  sched.action "left" {
    %x = sched.launch "iota"() {places = [#sched.place<"step", 0>], settings = {dimension = array<i64: 0>}} : () -> tensor<64xf32>
    sched.store "kept", %x : tensor<64xf32>
  }
  sched.action "update" {
    %x = sched.load "kept" : tensor<64xf32>
  }
  sched.run "forward" 0
  sched.run "left"
  sched.run "update"
  sched.run "forward" 1
}

// -----

// An output is read when the program has ended.
// expected-error @+1 {{'sched.program' op leaves slot "output/y", whose bytes action "forward" wrote over}}
sched.program "p" microbatches(2) {
  sched.slot "output/y" output : tensor<64xf32> {place = #sched.place<"step", 0>}
  // expected-note @+1 {{the action is here}}
  sched.action "forward" per_microbatch {
    %x = sched.launch "iota"() {places = [#sched.place<"step", 128>], settings = {dimension = array<i64: 0>}} : () -> tensor<64xf32>
  }
  sched.action "left" {
    %x = sched.launch "iota"() {places = [#sched.place<"step", 0>], settings = {dimension = array<i64: 0>}} : () -> tensor<64xf32>
    sched.store "output/y", %x : tensor<64xf32>
  }
  sched.run "forward" 0
  sched.run "left"
  sched.run "forward" 1
}

// -----

// expected-error @+3 {{'sched.program' op leaves @w, whose bytes action "a" wrote over}}
nn.parameter @w : tensor<64xf32> constant {sched.place = #sched.place<"parameters", 0>}
nn.parameter @v : tensor<64xf32> constant {sched.place = #sched.place<"parameters", 128>}
sched.program "p" microbatches(1) {
  // expected-note @+1 {{the action is here}}
  sched.action "a" {
    %x = sched.launch "iota"() {places = [#sched.place<"parameters", 128>], settings = {dimension = array<i64: 0>}} : () -> tensor<64xf32>
    nn.write @v, %x : tensor<64xf32>
  }
  sched.run "a"
}

// -----

// Programs that name no cache have the bytes of all; one that names a cache has those of none.
nn.cache @keys : tensor<64xf32> {sched.place = #sched.place<"step", 0>}
nn.cache @values : tensor<64xf32> {sched.place = #sched.place<"step", 256>}
sched.program "evaluate" microbatches(1) {
  sched.action "a" {
    %x = sched.launch "iota"() {places = [#sched.place<"step", 256>], settings = {dimension = array<i64: 0>}} : () -> tensor<64xf32>
  }
  sched.run "a"
}
// expected-error @+1 {{'sched.program' op leaves @values, whose bytes action "a" wrote over}}
sched.program "decode" microbatches(1) {
  // expected-note @+1 {{the action is here}}
  sched.action "a" {
    %keys = nn.read @keys : tensor<64xf32>
    %x = sched.launch "copy"(%keys) {places = [#sched.place<"step", 256>], settings = {}} : (tensor<64xf32>) -> tensor<64xf32>
  }
  sched.run "a"
}

// -----

// What is sent stays until the wait for it.
sched.program "p" microbatches(1) {
  sched.slot "x" carried : tensor<64xf32> {place = #sched.place<"step", 0>}
  sched.action "send" {
    %x = sched.load "x" : tensor<64xf32>
    // expected-note @+1 {{it begins here}}
    sched.launch "send"(%x) {places = [], settings = {axes = array<i64: 0>, peer = array<i64: 1>}} : (tensor<64xf32>) -> ()
  }
  sched.action "between" {
    %x = sched.launch "iota"() {places = [#sched.place<"step", 128>], settings = {dimension = array<i64: 0>}} : () -> tensor<64xf32>
  }
  sched.action "wait" {
    sched.launch "send_wait"() {places = [], settings = {axes = array<i64: 0>, peer = array<i64: 1>}} : () -> ()
  }
  sched.run "send"
  // expected-error @+1 {{'sched.run' op writes bytes 0 to 255 of base 'step', of which a transfer is under way}}
  sched.run "between"
  sched.run "wait"
}

// -----

// Behind it, anything may lie there.
sched.program "p" microbatches(1) {
  sched.slot "x" carried : tensor<64xf32> {place = #sched.place<"step", 0>}
  sched.action "send" {
    %x = sched.load "x" : tensor<64xf32>
    sched.launch "send"(%x) {places = [], settings = {axes = array<i64: 0>, peer = array<i64: 1>}} : (tensor<64xf32>) -> ()
  }
  sched.action "between" {
    %x = sched.launch "iota"() {places = [#sched.place<"step", 128>], settings = {dimension = array<i64: 0>}} : () -> tensor<64xf32>
  }
  sched.action "wait" {
    sched.launch "send_wait"() {places = [], settings = {axes = array<i64: 0>, peer = array<i64: 1>}} : () -> ()
  }
  sched.run "send"
  sched.run "wait"
  sched.run "between"
}

// -----

// So does what is received, though it is another action of the same peer that is waited for.
sched.program "p" microbatches(1) {
  sched.slot "x" carried : tensor<64xf32> {place = #sched.place<"step", 0>}
  sched.action "receive" {
    // expected-note @+1 {{it begins here}}
    %x = sched.launch "receive"() {places = [#sched.place<"step", 0>], settings = {axes = array<i64: 0>, peer = array<i64: 1>}} : () -> tensor<64xf32>
    sched.store "x", %x : tensor<64xf32>
  }
  sched.action "wait" {
    sched.launch "send_wait"() {places = [], settings = {axes = array<i64: 0>, peer = array<i64: 1>}} : () -> ()
    %x = sched.launch "iota"() {places = [#sched.place<"step", 128>], settings = {dimension = array<i64: 0>}} : () -> tensor<64xf32>
    sched.launch "receive_wait"() {places = [], settings = {axes = array<i64: 0>, peer = array<i64: 1>}} : () -> ()
  }
  sched.run "receive"
  // expected-error @+1 {{'sched.run' op writes bytes 0 to 255 of base 'step', of which a transfer is under way}}
  sched.run "wait"
}

// -----

sched.program "p" microbatches(1) {
  sched.action "a" {
    // expected-error @+1 {{'sched.launch' op has no place; memory comes before places are verified}}
    %x = sched.launch "iota"() {settings = {dimension = array<i64: 0>}} : () -> tensor<64xf32>
  }
  sched.run "a"
}
