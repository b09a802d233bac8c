// What normalizations and the rotary embedding refuse.
// RUN: weft-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<f32>, %w: tensor<8xf32>) {
  // expected-error @+1 {{'nn.rms_norm' op expects an input of at least one dimension}}
  %0, %1 = nn.rms_norm %x, %w {epsilon = 1.0e-5} : (tensor<f32>, tensor<8xf32>) -> (tensor<f32>, tensor<f32>)
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %w: tensor<4xf32>) {
  // expected-error @+1 {{'nn.rms_norm' op expects the weight of shape 'tensor<8xf32>', got 'tensor<4xf32>'}}
  %0, %1 = nn.rms_norm %x, %w {epsilon = 1.0e-5} : (tensor<4x8xf32>, tensor<4xf32>) -> (tensor<4x8xf32>, tensor<4xf32>)
  return
}

// -----

func.func @f(%x: tensor<4x8xbf16>, %w: tensor<8xbf16>) {
  // expected-error @+1 {{'nn.rms_norm' op expects rstd of type 'tensor<4xf32>', got 'tensor<4xbf16>'}}
  %0, %1 = nn.rms_norm %x, %w {epsilon = 1.0e-5} : (tensor<4x8xbf16>, tensor<8xbf16>) -> (tensor<4x8xbf16>, tensor<4xbf16>)
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %w: tensor<8xf32>) {
  // expected-error @+1 {{'nn.rms_norm' op expects a result of type 'tensor<4x8xf32>', got 'tensor<4x8xbf16>'}}
  %0, %1 = nn.rms_norm %x, %w {epsilon = 1.0e-5} : (tensor<4x8xf32>, tensor<8xf32>) -> (tensor<4x8xbf16>, tensor<4xf32>)
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %w: tensor<8xf32>, %r: tensor<4xf32>) {
  // expected-error @+1 {{'nn.rms_norm_backward' op expects the weight's cotangent of shape 'tensor<8xf32>', got 'tensor<4xf32>'}}
  %0, %1 = nn.rms_norm_backward %x, %x, %w, %r {epsilon = 1.0e-5} : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<8xf32>, tensor<4xf32>) -> (tensor<4x8xf32>, tensor<4xf32>)
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %d: tensor<8x4xf32>, %w: tensor<8xf32>, %r: tensor<4xf32>) {
  // expected-error @+1 {{'nn.rms_norm_backward' op expects a cotangent of shape 'tensor<4x8xf32>', got 'tensor<8x4xf32>'}}
  %0, %1 = nn.rms_norm_backward %d, %x, %w, %r {epsilon = 1.0e-5} : (tensor<8x4xf32>, tensor<4x8xf32>, tensor<8xf32>, tensor<4xf32>) -> (tensor<4x8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %w: tensor<8xf32>, %b: tensor<1xf32>) {
  // expected-error @+1 {{'nn.layer_norm' op expects the bias of shape 'tensor<8xf32>', got 'tensor<1xf32>'}}
  %0, %1, %2 = nn.layer_norm %x, %w, %b {epsilon = 1.0e-5} : (tensor<4x8xf32>, tensor<8xf32>, tensor<1xf32>) -> (tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %w: tensor<8xf32>) {
  // expected-error @+1 {{'nn.layer_norm' op expects the mean of type 'tensor<4xf32>', got 'tensor<8xf32>'}}
  %0, %1, %2 = nn.layer_norm %x, %w, %w {epsilon = 1.0e-5} : (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<4x8xf32>, tensor<8xf32>, tensor<4xf32>)
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %w: tensor<8xf32>, %r: tensor<4xf32>) {
  // expected-error @+1 {{'nn.layer_norm_backward' op expects an input cotangent of shape 'tensor<4x8xf32>', got 'tensor<8x4xf32>'}}
  %0, %1, %2 = nn.layer_norm_backward %x, %x, %w, %r, %r {epsilon = 1.0e-5} : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<8xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<8x4xf32>, tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @f(%x: tensor<6x4x8xf32>, %t: tensor<6x4xf32>) {
  // expected-error @+1 {{'nn.rope' op expects an input [batch, sequence, heads, dimension], got 'tensor<6x4x8xf32>'}}
  %0 = nn.rope %x, %t, %t : (tensor<6x4x8xf32>, tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<2x6x4x8xf32>, %t: tensor<5x4xf32>) {
  // expected-error @+1 {{'nn.rope' op expects tables [sequence, r/2] or [batch, sequence, r/2] for 'tensor<2x6x4x8xf32>', got 'tensor<5x4xf32>'}}
  %0 = nn.rope %x, %t, %t : (tensor<2x6x4x8xf32>, tensor<5x4xf32>, tensor<5x4xf32>) -> tensor<2x6x4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<2x6x4x8xf32>, %t: tensor<6x5xf32>) {
  // expected-error @+1 {{'nn.rope' op rotates 10 of 8 dimensions: the tables are too wide}}
  %0 = nn.rope %x, %t, %t : (tensor<2x6x4x8xf32>, tensor<6x5xf32>, tensor<6x5xf32>) -> tensor<2x6x4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<2x6x4x8xf32>, %t: tensor<6x4xf32>, %s: tensor<6x3xf32>) {
  // expected-error @+1 {{'nn.rope' op expects a sine table of type 'tensor<6x4xf32>', got 'tensor<6x3xf32>'}}
  %0 = nn.rope %x, %t, %s : (tensor<2x6x4x8xf32>, tensor<6x4xf32>, tensor<6x3xf32>) -> tensor<2x6x4x8xf32>
  return
}
