// What each op that moves values refuses, and what would be right.
// RUN: weft-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<4x6xf32>) {
  // expected-error @+1 {{'nn.reshape' op keeps the number of elements: 'tensor<4x6xf32>' has 24, 'tensor<5x5xf32>' has 25}}
  %0 = nn.reshape %x : tensor<4x6xf32> -> tensor<5x5xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>) {
  // expected-error @+1 {{'nn.reshape' op expects one element type, got 'tensor<4x6xf32>' and 'tensor<24xf64>'}}
  %0 = nn.reshape %x : tensor<4x6xf32> -> tensor<24xf64>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>) {
  // expected-error @+1 {{'nn.transpose' op expects one entry of 'permutation' per dimension (2), got 1}}
  %0 = nn.transpose %x [0] : tensor<4x6xf32> -> tensor<4x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>) {
  // expected-error @+1 {{'nn.transpose' op expects 'permutation' to name each dimension once, got 0 at 1}}
  %0 = nn.transpose %x [0, 0] : tensor<4x6xf32> -> tensor<4x4xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>) {
  // expected-error @+1 {{'nn.transpose' op expects 'permutation' to name each dimension once, got -1 at 0}}
  %0 = nn.transpose %x [-1, 0] : tensor<4x6xf32> -> tensor<6x4xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>) {
  // expected-error @+1 {{'nn.transpose' op expects size 6 for result dimension 0, got 4}}
  %0 = nn.transpose %x [1, 0] : tensor<4x6xf32> -> tensor<4x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>) {
  // expected-error @+1 {{'nn.transpose' op keeps the rank, got 'tensor<4x6xf32>' -> 'tensor<24xf32>'}}
  %0 = nn.transpose %x [1, 0] : tensor<4x6xf32> -> tensor<24xf32>
  return
}

// -----

func.func @f(%x: tensor<6xf32>) {
  // expected-error @+1 {{'nn.broadcast' op expects ascending 'dimensions' below the result's rank (2), got 2 at 0}}
  %0 = nn.broadcast %x [2] : tensor<6xf32> -> tensor<4x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>) {
  // expected-error @+1 {{'nn.broadcast' op expects ascending 'dimensions' below the result's rank (3), got 0 at 1}}
  %0 = nn.broadcast %x [1, 0] : tensor<4x6xf32> -> tensor<6x4x2xf32>
  return
}

// -----

func.func @f(%x: tensor<6xf32>) {
  // expected-error @+1 {{'nn.broadcast' op expects size 6 for result dimension 0, got 4}}
  %0 = nn.broadcast %x [0] : tensor<6xf32> -> tensor<4x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>) {
  // expected-error @+1 {{'nn.slice' op expects a block inside dimension 1 of size 6, got offset 4 and size 3}}
  %0 = nn.slice %x [0, 4] : tensor<4x6xf32> -> tensor<4x3xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>) {
  // expected-error @+1 {{'nn.slice' op expects a block inside dimension 0 of size 4, got offset -1 and size 1}}
  %0 = nn.slice %x [-1, 0] : tensor<4x6xf32> -> tensor<1x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>) {
  // expected-error @+1 {{'nn.slice' op expects one entry of 'offsets' per dimension (2), got 1}}
  %0 = nn.slice %x [0] : tensor<4x6xf32> -> tensor<4x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %i: tensor<i64>) {
  // expected-error @+1 {{'nn.slice' op expects one start per dimension (2) or none, got 1}}
  %0 = nn.slice %x [0, 0] (%i : tensor<i64>) : tensor<4x6xf32> -> tensor<1x6xf32>
  return
}

// -----

func.func @f(%x: tensor<6xf32>, %i: tensor<1xi64>) {
  // expected-error @+1 {{'nn.slice' op expects scalar starts, got 'tensor<1xi64>'}}
  %0 = nn.slice %x [0] (%i : tensor<1xi64>) : tensor<6xf32> -> tensor<2xf32>
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'nn.concatenate' op expects at least one operand}}
  %0 = nn.concatenate 0 () : () -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>) {
  // expected-error @+1 {{'nn.concatenate' op expects a dimension below the rank (2), got 2}}
  %0 = nn.concatenate 2 (%x) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>) {
  // expected-error @+1 {{'nn.concatenate' op expects a dimension below the rank (2), got -1}}
  %0 = nn.concatenate -1 (%x) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>) {
  // expected-error @+1 {{'nn.concatenate' op expects size 12 along dimension 1, got 'tensor<4x6xf32>'}}
  %0 = nn.concatenate 1 (%x, %x) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>) {
  // expected-error @+1 {{'nn.concatenate' op expects size 3 along dimension 0, got 'tensor<4x6xf32>'}}
  %0 = nn.concatenate 1 (%x) : (tensor<4x6xf32>) -> tensor<3x6xf32>
  return
}

// -----

func.func @f(%x: tensor<6xf32>) {
  // expected-error @+1 {{'nn.concatenate' op expects operands of the result's rank, got 'tensor<6xf32>'}}
  %0 = nn.concatenate 0 (%x) : (tensor<6xf32>) -> tensor<1x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'nn.pad' op expects no negative padding, got -1 and 0 along dimension 0}}
  %0 = nn.pad %x [-1] [0] 0.0 : tensor<4xf32> -> tensor<3xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'nn.pad' op expects size 7 for result dimension 0, got 6}}
  %0 = nn.pad %x [1] [2] 0.0 : tensor<4xf32> -> tensor<6xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'nn.pad' op expects one entry of 'high' per dimension (1), got 2}}
  %0 = nn.pad %x [1] [2, 0] 0.0 : tensor<4xf32> -> tensor<7xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %u: tensor<4x3xf32>) {
  // expected-error @+1 {{'nn.update_slice' op expects a block inside dimension 1 of size 6, got offset 4 and size 3}}
  %0 = nn.update_slice %x, %u [0, 4] : tensor<4x6xf32>, tensor<4x3xf32> -> tensor<4x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %u: tensor<4x3xf64>) {
  // expected-error @+1 {{'nn.update_slice' op expects one element type, got 'tensor<4x6xf32>' and 'tensor<4x3xf64>'}}
  %0 = nn.update_slice %x, %u [0, 0] : tensor<4x6xf32>, tensor<4x3xf64> -> tensor<4x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %u: tensor<4x3xf32>) {
  // expected-error @+1 {{'nn.update_slice' op gives a tensor like its operand, got 'tensor<4x6xf32>' -> 'tensor<4x3xf32>'}}
  %0 = nn.update_slice %x, %u [0, 0] : tensor<4x6xf32>, tensor<4x3xf32> -> tensor<4x3xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %u: tensor<4x3xf32>, %i: tensor<i64>) {
  // expected-error @+1 {{'nn.update_slice' op expects one start per dimension (2) or none, got 1}}
  %0 = nn.update_slice %x, %u [0, 0](%i : tensor<i64>) : tensor<4x6xf32>, tensor<4x3xf32> -> tensor<4x6xf32>
  return
}
