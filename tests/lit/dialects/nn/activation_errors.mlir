// What softmax and dropout refuse.
// RUN: weft-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<f32>) {
  // expected-error @+1 {{'nn.softmax' op expects at least one dimension, got 'tensor<f32>'}}
  %0 = nn.softmax %x : tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %s: tensor<i64>, %ids: tensor<4xi64>) {
  // expected-error @+1 {{'nn.dropout' op expects 0 <= rate < 1, got 1.000000e+00}}
  %0 = nn.dropout %x, %s, %ids {rate = 1.0, seed = 1 : i64, op_id = 1 : i64} : tensor<4x8xf32>, tensor<i64>, tensor<4xi64>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %s: tensor<i64>, %ids: tensor<4xi64>) {
  // expected-error @+1 {{'nn.dropout' op expects 0 <= rate < 1, got nan}}
  %0 = nn.dropout %x, %s, %ids {rate = 0x7FF8000000000000 : f64, seed = 1 : i64, op_id = 1 : i64} : tensor<4x8xf32>, tensor<i64>, tensor<4xi64>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %s: tensor<i64>, %ids: tensor<8xi64>) {
  // expected-error @+1 {{'nn.dropout' op expects one sample id for each index of the operand's first dimension, got 'tensor<8xi64>' for 'tensor<4x8xf32>'}}
  %0 = nn.dropout %x, %s, %ids {rate = 0.5, seed = 1 : i64, op_id = 1 : i64} : tensor<4x8xf32>, tensor<i64>, tensor<8xi64>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %s: tensor<1xi64>, %ids: tensor<4xi64>) {
  // expected-error @+1 {{'nn.dropout' op expects a scalar step, got 'tensor<1xi64>'}}
  %0 = nn.dropout %x, %s, %ids {rate = 0.5, seed = 1 : i64, op_id = 1 : i64} : tensor<4x8xf32>, tensor<1xi64>, tensor<4xi64>
  return
}
