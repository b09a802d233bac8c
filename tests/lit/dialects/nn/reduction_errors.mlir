// What reductions, running sums, top-k and the squared norm refuse.
// RUN: weft-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'nn.reduce' op expects ascending 'dimensions' below the rank (2), got 2}}
  %0 = nn.reduce sum %x [2] : tensor<4x8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'nn.reduce' op expects ascending 'dimensions' below the rank (2), got 0}}
  %0 = nn.reduce sum %x [1, 0] : tensor<4x8xf32> -> tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'nn.reduce' op expects ascending 'dimensions' below the rank (2), got -1}}
  %0 = nn.reduce sum %x [-1] : tensor<4x8xf32> -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'nn.reduce' op expects a result of shape 'tensor<4xf32>', got 'tensor<8xf32>'}}
  %0 = nn.reduce sum %x [1] : tensor<4x8xf32> -> tensor<8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'nn.reduce' op cannot fold 'f32' by sum into 'i64'}}
  %0 = nn.reduce sum %x [1] : tensor<4x8xf32> -> tensor<4xi64>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'nn.reduce' op cannot fold 'f32' by max into 'f64'}}
  %0 = nn.reduce max %x [1] : tensor<4x8xf32> -> tensor<4xf64>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'nn.cumulative_sum' op expects a dimension below the rank (2), got 2}}
  %0 = nn.cumulative_sum %x 2 : tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'nn.cumulative_sum' op expects a dimension below the rank (2), got -1}}
  %0 = nn.cumulative_sum %x -1 : tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'nn.top_k' op expects results in the operand's shape but for the last dimension, got 'tensor<4x8xf32>' -> 'tensor<3x2xf32>', 'tensor<3x2xi32>'}}
  %0, %1 = nn.top_k %x : tensor<4x8xf32> -> tensor<3x2xf32>, tensor<3x2xi32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'nn.top_k' op cannot take the 9 largest of 8}}
  %0, %1 = nn.top_k %x : tensor<4x8xf32> -> tensor<4x9xf32>, tensor<4x9xi32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'nn.squared_norm' op expects a scalar result, got 'tensor<4xf64>'}}
  %0 = nn.squared_norm %x : tensor<4x8xf32> -> tensor<4xf64>
  return
}
