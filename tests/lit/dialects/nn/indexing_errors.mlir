// What generators, gather and scatter refuse.
// RUN: weft-opt %s --split-input-file --verify-diagnostics

func.func @f() {
  // expected-error @+1 {{'nn.iota' op expects a dimension below the rank (1), got 1}}
  %0 = nn.iota 1 : tensor<4xi32>
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'nn.iota' op expects a dimension below the rank (1), got -1}}
  %0 = nn.iota -1 : tensor<4xi32>
  return
}

// -----

func.func @f(%s: tensor<1xi64>, %ids: tensor<4xi64>) {
  // expected-error @+1 {{'nn.random_uniform' op expects a scalar step, got 'tensor<1xi64>'}}
  %0 = nn.random_uniform %s, %ids {seed = 1 : i64, op_id = 1 : i64} : tensor<1xi64>, tensor<4xi64> -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%s: tensor<i64>, %ids: tensor<4xi64>) {
  // expected-error @+1 {{'nn.random_uniform' op expects one sample id for each index of the result's first dimension, got 'tensor<4xi64>' for 'tensor<8x4xf32>'}}
  %0 = nn.random_uniform %s, %ids {seed = 1 : i64, op_id = 1 : i64} : tensor<i64>, tensor<4xi64> -> tensor<8x4xf32>
  return
}

// -----

func.func @f(%t: tensor<10x8xf32>, %ids: tensor<4xi32>) {
  // expected-error @+1 {{'nn.gather' op expects a result of type 'tensor<4x8xf32>', got 'tensor<4x10xf32>'}}
  %0 = nn.gather %t, %ids : (tensor<10x8xf32>, tensor<4xi32>) -> tensor<4x10xf32>
  return
}

// -----

func.func @f(%t: tensor<10x8xf32>, %ids: tensor<4xi32>) {
  // expected-error @+1 {{'nn.gather' op expects the table's element type, got 'tensor<4x8xbf16>'}}
  %0 = nn.gather %t, %ids : (tensor<10x8xf32>, tensor<4xi32>) -> tensor<4x8xbf16>
  return
}

// -----

func.func @f(%t: tensor<f32>, %ids: tensor<4xi32>) {
  // expected-error @+1 {{'nn.gather' op expects a table of at least one dimension, got 'tensor<f32>'}}
  %0 = nn.gather %t, %ids : (tensor<f32>, tensor<4xi32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%ids: tensor<4xi32>, %r: tensor<4x8xf32>) {
  // expected-error @+1 {{'nn.scatter_add' op expects updates of type 'tensor<4x9xf32>', got 'tensor<4x8xf32>'}}
  %0 = nn.scatter_add %ids, %r : (tensor<4xi32>, tensor<4x8xf32>) -> tensor<10x9xf32>
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'nn.constant' op attribute 'value' failed to satisfy constraint: constant vector/tensor attribute dense}}
  %0 = nn.constant sparse<[[0]], [1.0]> : tensor<2xf32>
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'nn.constant' op attribute 'value' failed to satisfy constraint: constant vector/tensor attribute dense}}
  %0 = nn.constant dense_resource<blob> : tensor<2xf32>
  return
}
