// What the loss head and its backward refuse.
// RUN: weft-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<2x6x8xf32>, %w: tensor<10x9xf32>, %t: tensor<2x6xi32>) {
  // expected-error @+1 {{'nn.linear_cross_entropy' op expects an input [..., h] and a weight [v, h], got 'tensor<2x6x8xf32>' and 'tensor<10x9xf32>'}}
  %0, %1, %2 = nn.linear_cross_entropy %x, %w, %t : (tensor<2x6x8xf32>, tensor<10x9xf32>, tensor<2x6xi32>) -> (tensor<2x6xf32>, tensor<2x6xf32>, tensor<2x6xf32>)
  return
}

// -----

func.func @f(%x: tensor<2x6x8xf32>, %w: tensor<10x8xbf16>, %t: tensor<2x6xi32>) {
  // expected-error @+1 {{'nn.linear_cross_entropy' op expects input and weight of one element type, got 'tensor<2x6x8xf32>' and 'tensor<10x8xbf16>'}}
  %0, %1, %2 = nn.linear_cross_entropy %x, %w, %t : (tensor<2x6x8xf32>, tensor<10x8xbf16>, tensor<2x6xi32>) -> (tensor<2x6xf32>, tensor<2x6xf32>, tensor<2x6xf32>)
  return
}

// -----

func.func @f(%x: tensor<2x6x8xf32>, %w: tensor<10x8xf32>, %t: tensor<2x5xi32>) {
  // expected-error @+1 {{'nn.linear_cross_entropy' op expects one target per row of the input, got 'tensor<2x5xi32>'}}
  %0, %1, %2 = nn.linear_cross_entropy %x, %w, %t : (tensor<2x6x8xf32>, tensor<10x8xf32>, tensor<2x5xi32>) -> (tensor<2x6xf32>, tensor<2x6xf32>, tensor<2x6xf32>)
  return
}

// -----

func.func @f(%x: tensor<2x6x8xf32>, %w: tensor<10x8xf32>, %t: tensor<2x6xi32>) {
  // expected-error @+1 {{'nn.linear_cross_entropy' op expects a loss of type 'tensor<2x6xf32>', got 'tensor<2x6xbf16>'}}
  %0, %1, %2 = nn.linear_cross_entropy %x, %w, %t : (tensor<2x6x8xf32>, tensor<10x8xf32>, tensor<2x6xi32>) -> (tensor<2x6xbf16>, tensor<2x6xf32>, tensor<2x6xf32>)
  return
}

// -----

func.func @f(%x: tensor<2x6x8xf32>, %w: tensor<10x8xf32>, %t: tensor<2x6xi32>) {
  // expected-error @+1 {{'nn.linear_cross_entropy' op expects a log-sum-exp of type 'tensor<2x6xf32>', got 'tensor<6x2xf32>'}}
  %0, %1, %2 = nn.linear_cross_entropy %x, %w, %t : (tensor<2x6x8xf32>, tensor<10x8xf32>, tensor<2x6xi32>) -> (tensor<2x6xf32>, tensor<2x6xf32>, tensor<6x2xf32>)
  return
}

// -----

func.func @f(%x: tensor<2x6x8xf32>, %w: tensor<10x8xf32>, %t: tensor<2x6xi32>) {
  // expected-error @+1 {{'nn.linear_cross_entropy' op expects 0 <= label_smoothing < 1, got 1.000000e+00}}
  %0, %1, %2 = nn.linear_cross_entropy %x, %w, %t {label_smoothing = 1.0} : (tensor<2x6x8xf32>, tensor<10x8xf32>, tensor<2x6xi32>) -> (tensor<2x6xf32>, tensor<2x6xf32>, tensor<2x6xf32>)
  return
}

// -----

func.func @f(%x: tensor<2x6x8xf32>, %w: tensor<10x8xf32>, %t: tensor<2x6xi32>) {
  // expected-error @+1 {{'nn.linear_cross_entropy' op expects a z_loss of at least 0}}
  %0, %1, %2 = nn.linear_cross_entropy %x, %w, %t {z_loss = -1.0} : (tensor<2x6x8xf32>, tensor<10x8xf32>, tensor<2x6xi32>) -> (tensor<2x6xf32>, tensor<2x6xf32>, tensor<2x6xf32>)
  return
}

// -----

func.func @f(%x: tensor<2x6x8xf32>, %w: tensor<10x8xf32>, %t: tensor<2x6xi32>, %d: tensor<2x6xf32>) {
  // expected-error @+1 {{'nn.linear_cross_entropy_backward' op expects cotangents of the shapes of 'tensor<2x6x8xf32>' and 'tensor<10x8xf32>', got 'tensor<2x6x8xf32>' and 'tensor<9x8xf32>'}}
  %0, %1 = nn.linear_cross_entropy_backward %d, %d, %x, %w, %t, %d : (tensor<2x6xf32>, tensor<2x6xf32>, tensor<2x6x8xf32>, tensor<10x8xf32>, tensor<2x6xi32>, tensor<2x6xf32>) -> (tensor<2x6x8xf32>, tensor<9x8xf32>)
  return
}

// -----

func.func @f(%x: tensor<2x6x8xf32>, %w: tensor<10x8xf32>, %t: tensor<2x6xi32>, %d: tensor<2x6xf32>) {
  // expected-error @+1 {{'nn.linear_cross_entropy_backward' op has 10 words in its weight, more than the 9 that it is part_of}}
  %0, %1 = nn.linear_cross_entropy_backward %d, %d, %x, %w, %t, %d {part_of = 9 : i64} : (tensor<2x6xf32>, tensor<2x6xf32>, tensor<2x6x8xf32>, tensor<10x8xf32>, tensor<2x6xi32>, tensor<2x6xf32>) -> (tensor<2x6x8xf32>, tensor<10x8xf32>)
  return
}

// -----

func.func @f(%x: tensor<2x6x8xf32>, %w: tensor<10x8xf32>, %t: tensor<2x6xi32>, %d: tensor<2x6xf32>) {
  // expected-error @+1 {{'nn.linear_cross_entropy_backward' op tells ignored rows by their cotangents of 0 if it has part_of, and takes no ignore_index}}
  %0, %1 = nn.linear_cross_entropy_backward %d, %d, %x, %w, %t, %d {ignore_index = 0 : i64, part_of = 10 : i64} : (tensor<2x6xf32>, tensor<2x6xf32>, tensor<2x6x8xf32>, tensor<10x8xf32>, tensor<2x6xi32>, tensor<2x6xf32>) -> (tensor<2x6x8xf32>, tensor<10x8xf32>)
  return
}

// -----

func.func @f(%x: tensor<2x6x8xf32>, %w: tensor<10x8xf32>, %t: tensor<2x6xi32>, %d: tensor<2x6xf32>, %n: tensor<i64>) {
  // expected-error @+1 {{'nn.linear_cross_entropy_backward' op has a number of valid rows, which only a weight that is part_of a vocabulary has}}
  %0, %1 = nn.linear_cross_entropy_backward %d, %d, %x, %w, %t, %d valid %n : (tensor<2x6xf32>, tensor<2x6xf32>, tensor<2x6x8xf32>, tensor<10x8xf32>, tensor<2x6xi32>, tensor<2x6xf32>, tensor<i64>) -> (tensor<2x6x8xf32>, tensor<10x8xf32>)
  return
}

// -----

func.func @f(%x: tensor<2x6x8xf32>, %w: tensor<10x8xf32>, %t: tensor<2x6xi32>, %n: tensor<1xi64>) {
  // expected-error @+1 {{'nn.linear_cross_entropy_statistics' op expects a scalar number of valid rows, got 'tensor<1xi64>'}}
  %0, %1, %2 = nn.linear_cross_entropy_statistics %x, %w, %t valid %n : (tensor<2x6x8xf32>, tensor<10x8xf32>, tensor<2x6xi32>, tensor<1xi64>) -> (tensor<2x6xf32>, tensor<2x6xf32>, tensor<2x6xf32>)
  return
}

// -----

func.func @f(%x: tensor<2x6x8xf32>, %w: tensor<10x8xf32>, %t: tensor<2x6xi32>) {
  // expected-error @+1 {{'nn.linear_cross_entropy_statistics' op expects a sum of logits of type 'tensor<2x6xf32>', got 'tensor<6xf32>'}}
  %0, %1, %2 = nn.linear_cross_entropy_statistics %x, %w, %t : (tensor<2x6x8xf32>, tensor<10x8xf32>, tensor<2x6xi32>) -> (tensor<2x6xf32>, tensor<2x6xf32>, tensor<6xf32>)
  return
}

// -----

func.func @f(%x: tensor<2x6x8xf32>, %w: tensor<10x8xf32>, %t: tensor<2x6xi32>) {
  // expected-error @+1 {{'nn.linear_cross_entropy_statistics' op expects a softcap of at least 0}}
  %0, %1, %2 = nn.linear_cross_entropy_statistics %x, %w, %t {softcap = -1.0} : (tensor<2x6x8xf32>, tensor<10x8xf32>, tensor<2x6xi32>) -> (tensor<2x6xf32>, tensor<2x6xf32>, tensor<2x6xf32>)
  return
}
