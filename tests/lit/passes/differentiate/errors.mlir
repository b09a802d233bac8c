// What cannot be differentiated is said where it stands.
// RUN: weft-opt %s --weft-differentiate --split-input-file --verify-diagnostics

nn.parameter @w : tensor<4xf32> constant
nn.step @train microbatches(1) inputs([]) attributes {objective = "loss"}
  prepare { nn.yield }
  microbatch {
    %w = nn.read @w : tensor<4xf32>
    // expected-error @+1 {{'nn.cumulative_sum' op has no derivative and lies between a parameter and the objective; nn.stop_gradient in front of it says that none is wanted}}
    %sums = nn.cumulative_sum %w 0 : tensor<4xf32>
    %loss = nn.reduce sum %sums [0] : tensor<4xf32> -> tensor<f32>
    nn.carry ["loss"] ["sum"] %loss : tensor<f32> }
  update { ^bb0(%loss: tensor<f32>): nn.yield }

// -----

// expected-error @+1 {{'nn.step' op names the objective "loss", which microbatch does not carry}}
nn.step @train microbatches(1) inputs([]) attributes {objective = "loss"}
  prepare { nn.yield }
  microbatch { nn.carry [] [] }
  update { nn.yield }

// -----

// expected-error @+1 {{'nn.step' op names the objective 1 : i64, which microbatch does not carry}}
nn.step @train microbatches(1) inputs([]) attributes {objective = 1}
  prepare { nn.yield }
  microbatch { nn.carry [] [] }
  update { nn.yield }

// -----

// expected-error @+1 {{'nn.step' op expects a scalar float objective, got 'tensor<4xf32>'}}
nn.step @train microbatches(1) inputs([]) attributes {objective = "loss"}
  prepare { nn.yield }
  microbatch {
    %x = nn.constant dense<0.0> : tensor<4xf32>
    nn.carry ["loss"] ["sum"] %x : tensor<4xf32> }
  update { ^bb0(%loss: tensor<4xf32>): nn.yield }

// -----

nn.parameter @w : tensor<4xf32> constant
nn.step @train microbatches(1) inputs([]) attributes {objective = "loss"}
  prepare {
    // expected-error @+1 {{'nn.read' op reads a parameter in prepare, where no gradient would reach it; read it in microbatch}}
    %w = nn.read @w : tensor<4xf32>
    nn.yield %w : tensor<4xf32> }
  microbatch { ^bb0(%w: tensor<4xf32>):
    %loss = nn.reduce sum %w [0] : tensor<4xf32> -> tensor<f32>
    nn.carry ["loss"] ["sum"] %loss : tensor<f32> }
  update { ^bb0(%loss: tensor<f32>, %w: tensor<4xf32>): nn.yield }

// -----

// A residual has no derivative of its own: an objective that depends on it is refused, never trained wrongly.
nn.parameter @w : tensor<8xf32> constant
nn.step @train microbatches(1) inputs(["x"]) attributes {objective = "loss"}
  prepare { ^bb0(%x: tensor<1x4x8xf32>): nn.yield }
  microbatch { ^bb0(%x: tensor<4x8xf32>):
    %w = nn.read @w : tensor<8xf32>
    %s = nn.broadcast %w [1] : tensor<8xf32> -> tensor<4x8xf32>
    %p = nn.multiply %x, %s : tensor<4x8xf32>
    // expected-error @+1 {{'nn.rms_norm' op has no derivative through its result 1, and the objective depends on it; nn.stop_gradient behind it says that none is wanted}}
    %y, %r = nn.rms_norm %p, %w {epsilon = 1.0e-5} : (tensor<4x8xf32>, tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4xf32>)
    %loss = nn.reduce sum %r [0] : tensor<4xf32> -> tensor<f32>
    nn.carry ["loss"] ["sum"] %loss : tensor<f32> }
  update { ^bb0(%loss: tensor<f32>): nn.yield ["loss"] %loss : tensor<f32> }
