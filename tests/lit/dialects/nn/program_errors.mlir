// What variables, reads, writes and the regions of a step refuse.
// RUN: weft-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{'nn.parameter' op expects a static ranked tensor type, got 'tensor<?xf32>'}}
nn.parameter @w : tensor<?xf32> constant

// -----

// expected-error @+1 {{'nn.parameter' op expects a float element type, got 'tensor<4xi32>'}}
nn.parameter @w : tensor<4xi32> constant

// -----

// expected-error @+1 {{'nn.state' op expects an element type i1, i32, i64, bf16, f16, f32 or f64, got 'tensor<4xcomplex<f32>>'}}
nn.state @s : tensor<4xcomplex<f32>> constant

// -----

// expected-error @+1 {{'nn.state' op expects at most 16 dimensions and 2^48 bytes, got 'tensor<4294967296x4294967296xf32>'}}
nn.state @s : tensor<4294967296x4294967296xf32> constant

// -----

// expected-error @+1 {{'nn.parameter' op expects a deviation of at least 0}}
nn.parameter @w : tensor<4xf32> normal {deviation = -1.0}

// -----

func.func @f() {
  // expected-error @+1 {{'nn.read' op expects a parameter or state named @w, there is none}}
  %0 = nn.read @w : tensor<4xf32>
  return
}

// -----

nn.parameter @w : tensor<4xf32> constant
func.func @f() {
  // expected-error @+1 {{'nn.read' op expects type 'tensor<4xf32>' of @w, got 'tensor<5xf32>'}}
  %0 = nn.read @w : tensor<5xf32>
  return
}

// -----

nn.parameter @w : tensor<4xf32> constant
func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'nn.write' op may stand only in the update of an nn.step}}
  nn.write @w, %x : tensor<4xf32>
  return
}

// -----

nn.parameter @w : tensor<4xf32> constant
%x = nn.constant dense<0.0> : tensor<4xf32>
// expected-error @+1 {{'nn.write' op may stand only in the update of an nn.step}}
nn.write @w, %x : tensor<4xf32>

// -----

nn.parameter @w : tensor<4xf32> constant
nn.step @s microbatches(1) inputs([])
  prepare { nn.yield }
  microbatch {
    %x = nn.constant dense<0.0> : tensor<4xf32>
    // expected-error @+1 {{'nn.write' op may stand only in the update of an nn.step}}
    nn.write @w, %x : tensor<4xf32>
    nn.carry [] [] }
  update { nn.yield }

// -----

nn.parameter @w : tensor<4xf32> constant
nn.step @s microbatches(1) inputs([])
  prepare { nn.yield }
  microbatch { nn.carry [] [] }
  update {
    %x = nn.constant dense<0.0> : tensor<4xf32>
    nn.write @w, %x : tensor<4xf32>
    // expected-error @+1 {{'nn.write' op writes @w a second time}}
    nn.write @w, %x : tensor<4xf32>
    nn.yield }

// -----

// expected-error @+1 {{'nn.step' op expects at least one microbatch, got 0}}
nn.step @s microbatches(0) inputs([])
  prepare { nn.yield }
  microbatch { nn.carry [] [] }
  update { nn.yield }

// -----

// expected-error @+1 {{'nn.step' op expects at least one microbatch, got -1}}
nn.step @s microbatches(-1) inputs([])
  prepare { nn.yield }
  microbatch { nn.carry [] [] }
  update { nn.yield }

// -----

// expected-error @+1 {{'nn.step' op expects one argument of prepare per input (1), got 0}}
nn.step @s microbatches(1) inputs(["x"])
  prepare { nn.yield }
  microbatch { nn.carry [] [] }
  update { nn.yield }

// -----

// expected-error @+1 {{'nn.step' op expects at least 1 arguments of microbatch}}
nn.step @s microbatches(1) inputs(["x"])
  prepare { ^bb0(%x: tensor<1x4xf32>): nn.yield }
  microbatch { nn.carry [] [] }
  update { nn.yield }

// -----

// expected-error @+1 {{'nn.step' op expects input "x" of microbatch to be one of the 2 parts of 'tensor<3x4xf32>' or all of it, got 'tensor<4xf32>'}}
nn.step @s microbatches(2) inputs(["x"])
  prepare { ^bb0(%x: tensor<3x4xf32>): nn.yield }
  microbatch { ^bb0(%x: tensor<4xf32>): nn.carry [] [] }
  update { nn.yield }

// -----

// expected-error @+1 {{'nn.step' op names "x" twice}}
nn.step @s microbatches(1) inputs(["x", "x"])
  prepare { ^bb0(%x: tensor<4xf32>, %y: tensor<4xf32>): nn.yield }
  microbatch { ^bb0(%x: tensor<4xf32>, %y: tensor<4xf32>): nn.carry [] [] }
  update { nn.yield }

// -----

// expected-error @+1 {{'nn.step' op expects arguments that are tensors, got 'i32'}}
nn.step @s microbatches(1) inputs(["x"])
  prepare { ^bb0(%x: i32): nn.yield }
  microbatch { ^bb0(%x: i32): nn.carry [] [] }
  update { nn.yield }

// -----

// expected-error @+1 {{'nn.step' op expects prepare to end in nn.yield without names}}
nn.step @s microbatches(1) inputs([])
  prepare { nn.yield [] }
  microbatch { nn.carry [] [] }
  update { nn.yield }

// -----

// expected-error @+1 {{'nn.step' op expects microbatch to end in nn.carry}}
nn.step @s microbatches(1) inputs([])
  prepare { nn.yield }
  microbatch { nn.yield }
  update { nn.yield }

// -----

// expected-error @+1 {{'nn.step' op expects update to end in nn.yield}}
nn.step @s microbatches(1) inputs([])
  prepare { nn.yield }
  microbatch { nn.carry [] [] }
  update { nn.carry [] [] }

// -----

nn.step @s microbatches(1) inputs([])
  prepare { nn.yield }
  microbatch { nn.carry [] [] }
  update {
    %x = nn.constant dense<0.0> : tensor<4xf32>
    // expected-error @+1 {{'nn.yield' op expects one name per value, got 0 names for 1 values}}
    nn.yield %x : tensor<4xf32> }

// -----

nn.step @s microbatches(1) inputs([])
  prepare { nn.yield }
  microbatch { nn.carry [] [] }
  update {
    %x = nn.constant dense<0.0> : tensor<4xf32>
    // expected-error @+1 {{'nn.yield' op names "a" twice}}
    nn.yield ["a", "a"] %x, %x : tensor<4xf32>, tensor<4xf32> }

// -----

// expected-error @+1 {{'nn.step' op expects argument 0 of update to be 'tensor<4xf32>', got 'tensor<5xf32>'}}
nn.step @s microbatches(1) inputs([])
  prepare { nn.yield }
  microbatch {
    %x = nn.constant dense<0.0> : tensor<4xf32>
    nn.carry ["x"] ["sum"] %x : tensor<4xf32> }
  update { ^bb0(%x: tensor<5xf32>): nn.yield }

// -----

// expected-error @+1 {{'nn.step' op expects 1 arguments of update, got 0}}
nn.step @s microbatches(1) inputs([])
  prepare { nn.yield }
  microbatch {
    %x = nn.constant dense<0.0> : tensor<4xf32>
    nn.carry ["x"] ["sum"] %x : tensor<4xf32> }
  update { nn.yield }

// -----

nn.step @s microbatches(1) inputs([])
  prepare { nn.yield }
  microbatch {
    %x = nn.constant dense<0.0> : tensor<4xf32>
    // expected-error @+1 {{'nn.carry' op expects combiners sum, max, min or tree, got "mean"}}
    nn.carry ["x"] ["mean"] %x : tensor<4xf32> }
  update { ^bb0(%x: tensor<4xf32>): nn.yield }

// -----

nn.step @s microbatches(1) inputs([])
  prepare { nn.yield }
  microbatch {
    %x = nn.constant dense<0.0> : tensor<4xf32>
    // expected-error @+1 {{'nn.carry' op expects one combiner per value, got 0}}
    nn.carry ["x"] [] %x : tensor<4xf32> }
  update { ^bb0(%x: tensor<4xf32>): nn.yield }

// -----

nn.step @s microbatches(1) inputs([])
  prepare { nn.yield }
  microbatch {
    %x = nn.constant dense<true> : tensor<4xi1>
    // expected-error @+1 {{'nn.carry' op folds floats and integers, got 'tensor<4xi1>'; nn.cast makes it an integer}}
    nn.carry ["x"] ["max"] %x : tensor<4xi1> }
  update { ^bb0(%x: tensor<4xi1>): nn.yield }

// -----

func.func @f() -> tensor<4xf32> {
  // expected-error @+1 {{'nn.yield' op expects parent op 'nn.step'}}
  nn.yield
}

// -----

// expected-error @+1 {{'nn.step' op region #2 ('update') failed to verify constraint: region with 1 blocks}}
nn.step @s microbatches(1) inputs([])
  prepare { nn.yield }
  microbatch { nn.carry [] [] }
  update { }

// -----

// expected-error @+1 {{empty block: expect at least a terminator}}
nn.step @s microbatches(1) inputs([])
  prepare { nn.yield }
  microbatch { nn.carry [] [] }
  update { ^bb0: }

// -----

// A cache is what functions leave to each other.
nn.cache @c : tensor<4xf32>
nn.step @s microbatches(1) inputs([])
  prepare { nn.yield }
  microbatch { nn.carry [] [] }
  update {
    // expected-error @+1 {{'nn.read' op of a cache may stand only in a function}}
    %x = nn.read @c : tensor<4xf32>
    nn.yield }

// -----

nn.cache @c : tensor<4xf32>
nn.step @s microbatches(1) inputs([])
  prepare { nn.yield }
  microbatch { nn.carry [] [] }
  update {
    %x = nn.constant dense<0.0> : tensor<4xf32>
    // expected-error @+1 {{'nn.write' op of a cache may stand only in a function}}
    nn.write @c, %x : tensor<4xf32>
    nn.yield }

// -----

nn.cache @c : tensor<4xf32>
func.func @f(%x: tensor<4xf32>) {
  nn.write @c, %x : tensor<4xf32>
  // expected-error @+1 {{'nn.write' op writes @c a second time}}
  nn.write @c, %x : tensor<4xf32>
  return
}

// -----

// expected-error @+1 {{'nn.cache' op expects a static ranked tensor type, got 'tensor<?xf32>'}}
nn.cache @c : tensor<?xf32>
