// What attention and its backward refuse.
// RUN: weft-opt %s --split-input-file --verify-diagnostics

func.func @f(%q: tensor<6x4x8xf32>, %k: tensor<2x6x2x8xf32>) {
  // expected-error @+1 {{'nn.attention' op expects query, key and value of rank 4 [batch, sequence, heads, dimension], got 'tensor<6x4x8xf32>', 'tensor<2x6x2x8xf32>', 'tensor<2x6x2x8xf32>'}}
  %0, %1 = nn.attention %q, %k, %k {scale = 0.5} : (tensor<6x4x8xf32>, tensor<2x6x2x8xf32>, tensor<2x6x2x8xf32>) -> (tensor<2x6x4x8xf32>, tensor<2x4x6xf32>)
  return
}

// -----

func.func @f(%q: tensor<2x6x4x8xf32>, %k: tensor<2x6x2x7xf32>) {
  // expected-error @+1 {{'nn.attention' op expects a key [2, keys, groups, 8], got 'tensor<2x6x2x7xf32>'}}
  %0, %1 = nn.attention %q, %k, %k {scale = 0.5} : (tensor<2x6x4x8xf32>, tensor<2x6x2x7xf32>, tensor<2x6x2x7xf32>) -> (tensor<2x6x4x8xf32>, tensor<2x4x6xf32>)
  return
}

// -----

func.func @f(%q: tensor<2x6x4x8xf32>, %k: tensor<2x6x3x8xf32>) {
  // expected-error @+1 {{'nn.attention' op expects heads (4) to be a multiple of groups (3)}}
  %0, %1 = nn.attention %q, %k, %k {scale = 0.5} : (tensor<2x6x4x8xf32>, tensor<2x6x3x8xf32>, tensor<2x6x3x8xf32>) -> (tensor<2x6x4x8xf32>, tensor<2x4x6xf32>)
  return
}

// -----

func.func @f(%q: tensor<2x6x4x8xf32>, %k: tensor<2x6x0x8xf32>) {
  // expected-error @+1 {{'nn.attention' op expects heads (4) to be a multiple of groups (0)}}
  %0, %1 = nn.attention %q, %k, %k {scale = 0.5} : (tensor<2x6x4x8xf32>, tensor<2x6x0x8xf32>, tensor<2x6x0x8xf32>) -> (tensor<2x6x4x8xf32>, tensor<2x4x6xf32>)
  return
}

// -----

func.func @f(%q: tensor<2x6x4x8xf32>, %k: tensor<2x6x2x8xbf16>) {
  // expected-error @+1 {{'nn.attention' op expects query, key and value of one element type, got 'tensor<2x6x4x8xf32>', 'tensor<2x6x2x8xbf16>', 'tensor<2x6x2x8xbf16>'}}
  %0, %1 = nn.attention %q, %k, %k {scale = 0.5} : (tensor<2x6x4x8xf32>, tensor<2x6x2x8xbf16>, tensor<2x6x2x8xbf16>) -> (tensor<2x6x4x8xf32>, tensor<2x4x6xf32>)
  return
}

// -----

func.func @f(%q: tensor<2x6x4x8xf32>, %k: tensor<2x6x2x8xf32>) {
  // expected-error @+1 {{'nn.attention' op expects a log-sum-exp of type 'tensor<2x4x6xf32>', got 'tensor<2x6x4xf32>'}}
  %0, %1 = nn.attention %q, %k, %k {scale = 0.5} : (tensor<2x6x4x8xf32>, tensor<2x6x2x8xf32>, tensor<2x6x2x8xf32>) -> (tensor<2x6x4x8xf32>, tensor<2x6x4xf32>)
  return
}

// -----

func.func @f(%q: tensor<2x6x4x8xf32>, %k: tensor<2x6x2x8xf32>) {
  // expected-error @+1 {{'nn.attention' op expects a result of type 'tensor<2x6x4x8xf32>', got 'tensor<2x6x2x8xf32>'}}
  %0, %1 = nn.attention %q, %k, %k {scale = 0.5} : (tensor<2x6x4x8xf32>, tensor<2x6x2x8xf32>, tensor<2x6x2x8xf32>) -> (tensor<2x6x2x8xf32>, tensor<2x4x6xf32>)
  return
}

// -----

func.func @f(%q: tensor<2x6x4x8xf32>, %k: tensor<2x6x2x8xf32>) {
  // expected-error @+1 {{'nn.attention' op expects a window and a softcap of at least 0}}
  %0, %1 = nn.attention %q, %k, %k {scale = 0.5, window = -1 : i64} : (tensor<2x6x4x8xf32>, tensor<2x6x2x8xf32>, tensor<2x6x2x8xf32>) -> (tensor<2x6x4x8xf32>, tensor<2x4x6xf32>)
  return
}

// -----

func.func @f(%q: tensor<2x6x4x8xf32>, %k: tensor<2x6x2x8xf32>) {
  // expected-error @+1 {{'nn.attention' op expects a window and a softcap of at least 0}}
  %0, %1 = nn.attention %q, %k, %k {scale = 0.5, softcap = -1.0} : (tensor<2x6x4x8xf32>, tensor<2x6x2x8xf32>, tensor<2x6x2x8xf32>) -> (tensor<2x6x4x8xf32>, tensor<2x4x6xf32>)
  return
}

// -----

func.func @f(%q: tensor<2x6x4x8xf32>, %k: tensor<2x6x2x8xf32>) {
  // expected-error @+1 {{'nn.attention' op expects a window and a softcap of at least 0}}
  %0, %1 = nn.attention %q, %k, %k {scale = 0.5, softcap = 0x7FF8000000000000 : f64} : (tensor<2x6x4x8xf32>, tensor<2x6x2x8xf32>, tensor<2x6x2x8xf32>) -> (tensor<2x6x4x8xf32>, tensor<2x4x6xf32>)
  return
}

// -----

func.func @f(%q: tensor<2x6x4x8xf32>, %k: tensor<2x6x2x8xf32>, %s: tensor<3xf32>) {
  // expected-error @+1 {{'nn.attention' op expects one sink per head (4), got 'tensor<3xf32>'}}
  %0, %1 = nn.attention %q, %k, %k sinks(%s) {scale = 0.5} : (tensor<2x6x4x8xf32>, tensor<2x6x2x8xf32>, tensor<2x6x2x8xf32>, tensor<3xf32>) -> (tensor<2x6x4x8xf32>, tensor<2x4x6xf32>)
  return
}

// -----

func.func @f(%q: tensor<2x6x4x8xf32>, %k: tensor<2x6x2x8xf32>, %s: tensor<2x5xi32>) {
  // expected-error @+1 {{'nn.attention' op expects segments [2, 6] of the query and [2, 6] of the key, got 'tensor<2x5xi32>' and 'tensor<2x5xi32>'}}
  %0, %1 = nn.attention %q, %k, %k segments(%s, %s) {scale = 0.5} : (tensor<2x6x4x8xf32>, tensor<2x6x2x8xf32>, tensor<2x6x2x8xf32>, tensor<2x5xi32>, tensor<2x5xi32>) -> (tensor<2x6x4x8xf32>, tensor<2x4x6xf32>)
  return
}

// -----

func.func @f(%q: tensor<2x6x4x8xf32>, %k: tensor<2x6x2x8xf32>, %s: tensor<2x6xi32>, %t: tensor<6xi32>) {
  // expected-error @+1 {{'nn.attention' op expects positions [2, 6] of the query and [2, 6] of the key, got 'tensor<2x6xi32>' and 'tensor<6xi32>'}}
  %0, %1 = nn.attention %q, %k, %k positions(%s, %t) {scale = 0.5} : (tensor<2x6x4x8xf32>, tensor<2x6x2x8xf32>, tensor<2x6x2x8xf32>, tensor<2x6xi32>, tensor<6xi32>) -> (tensor<2x6x4x8xf32>, tensor<2x4x6xf32>)
  return
}

// -----

func.func @f(%q: tensor<2x6x4x8xf32>, %k: tensor<2x6x2x8xf32>, %s: tensor<2x6xi32>) {
  // expected-error @+1 {{'nn.attention' op expects positions of both query and key, or of neither}}
  %0, %1 = "nn.attention"(%q, %k, %k, %s) {scale = 0.5, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 1, 0, 0>} : (tensor<2x6x4x8xf32>, tensor<2x6x2x8xf32>, tensor<2x6x2x8xf32>, tensor<2x6xi32>) -> (tensor<2x6x4x8xf32>, tensor<2x4x6xf32>)
  return
}

// -----

func.func @f(%q: tensor<2x6x4x8xf32>, %k: tensor<2x6x2x8xf32>, %v: tensor<2x5x2x8xf32>) {
  // expected-error @+1 {{'nn.attention' op expects a value with the key's batch, positions and groups, got 'tensor<2x5x2x8xf32>' for key 'tensor<2x6x2x8xf32>'}}
  %0, %1 = nn.attention %q, %k, %v {scale = 0.5} : (tensor<2x6x4x8xf32>, tensor<2x6x2x8xf32>, tensor<2x5x2x8xf32>) -> (tensor<2x6x4x8xf32>, tensor<2x4x6xf32>)
  return
}

// -----

func.func @f(%q: tensor<2x6x4x8xf32>, %k: tensor<2x6x2x8xf32>, %l: tensor<2x4x6xf32>) {
  // expected-error @+1 {{'nn.attention_backward' op expects a key cotangent of the shape of 'tensor<2x6x2x8xf32>', got 'tensor<2x6x4x8xf32>'}}
  %0:3 = nn.attention_backward %q, %q, %k, %k, %q, %l {scale = 0.5} : (tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x6x2x8xf32>, tensor<2x6x2x8xf32>, tensor<2x6x4x8xf32>, tensor<2x4x6xf32>) -> (tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x6x2x8xf32>)
  return
}

// -----

func.func @f(%q: tensor<2x6x4x8xf32>, %k: tensor<2x6x2x8xf32>, %l: tensor<2x4x6xf32>) {
  // expected-error @+1 {{'nn.attention_backward' op expects a cotangent of the sinks exactly if there are sinks}}
  %0:4 = nn.attention_backward %q, %q, %k, %k, %q, %l {scale = 0.5} : (tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x6x2x8xf32>, tensor<2x6x2x8xf32>, tensor<2x6x4x8xf32>, tensor<2x4x6xf32>) -> (tensor<2x6x4x8xf32>, tensor<2x6x2x8xf32>, tensor<2x6x2x8xf32>, tensor<4xf32>)
  return
}

// -----

func.func @f(%q: tensor<2x6x4x8xf32>, %k: tensor<2x6x2x8xf32>, %l: tensor<2x4x6xf32>, %s: tensor<4xf32>) {
  // expected-error @+1 {{'nn.attention_backward' op expects a sinks cotangent of the shape of 'tensor<4xf32>', got 'tensor<5xf32>'}}
  %0:4 = nn.attention_backward %q, %q, %k, %k, %q, %l sinks(%s) {scale = 0.5} : (tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x6x2x8xf32>, tensor<2x6x2x8xf32>, tensor<2x6x4x8xf32>, tensor<2x4x6xf32>, tensor<4xf32>) -> (tensor<2x6x4x8xf32>, tensor<2x6x2x8xf32>, tensor<2x6x2x8xf32>, tensor<5xf32>)
  return
}

// -----

func.func @f(%q: tensor<2x6x4x8xf32>, %k: tensor<2x6x2x8xf32>, %l: tensor<2x4x6xf32>) {
  // expected-error @+1 {{'nn.attention_backward' op expects an output of type 'tensor<2x6x4x8xf32>', got 'tensor<2x6x2x8xf32>'}}
  %0:3 = nn.attention_backward %k, %q, %k, %k, %k, %l {scale = 0.5} : (tensor<2x6x2x8xf32>, tensor<2x6x4x8xf32>, tensor<2x6x2x8xf32>, tensor<2x6x2x8xf32>, tensor<2x6x2x8xf32>, tensor<2x4x6xf32>) -> (tensor<2x6x4x8xf32>, tensor<2x6x2x8xf32>, tensor<2x6x2x8xf32>)
  return
}
