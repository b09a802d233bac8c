// What optimizer updates refuse: moments of another type than the parameter, scalars that are none.
// RUN: weft-opt %s --split-input-file --verify-diagnostics

func.func @f(%p: tensor<8xf32>, %g: tensor<8xbf16>, %s: tensor<f32>) {
  // expected-error @+1 {{'nn.adamw' op expects operand 1 of the parameter's type 'tensor<8xf32>', got 'tensor<8xbf16>'}}
  %0:3 = nn.adamw %p, %g, %p, %p, %s, %s, %s {beta1 = 0.9, beta2 = 0.9, epsilon = 0.0, weight_decay = 0.0} : (tensor<8xf32>, tensor<8xbf16>, tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @f(%p: tensor<8xf32>) {
  // expected-error @+1 {{'nn.sgd' op expects operand 3 to be a scalar, got 'tensor<8xf32>'}}
  %0:2 = nn.sgd %p, %p, %p, %p {momentum = 0.0, weight_decay = 0.0} : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @f(%p: tensor<8xf32>, %s: tensor<f32>) {
  // expected-error @+1 {{'nn.lion' op expects results of the parameter's type 'tensor<8xf32>', got 'tensor<4xf32>'}}
  %0:2 = nn.lion %p, %p, %p, %s {beta1 = 0.9, beta2 = 0.9, weight_decay = 0.0} : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> (tensor<8xf32>, tensor<4xf32>)
  return
}
