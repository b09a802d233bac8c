// In the generic form anything can be written: a wrong number of operands, results or regions, and a missing or wrong
// attribute are refused before an op's own checks read them.
// RUN: weft-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'nn.add' op expected 2 operands, but found 1}}
  %0 = "nn.add"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'nn.einsum' op requires attribute 'equation'}}
  %0 = "nn.einsum"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'nn.einsum' op attribute 'equation' failed to satisfy constraint: string attribute}}
  %0 = "nn.einsum"(%x, %x) {equation = 1} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'nn.reduce' op attribute 'dimensions' failed to satisfy constraint: i64 dense array attribute}}
  %0 = "nn.reduce"(%x) {kind = 0 : i32, dimensions = [0]} : (tensor<4xf32>) -> tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'nn.activation' op attribute 'kind' failed to satisfy constraint: a point-wise non-linearity}}
  %0 = "nn.activation"(%x) {kind = 9 : i32} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'nn.add' op all non-scalar operands/results must have the same shape and base type}}
  %0 = "nn.add"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @f(%x: tensor<2x2x2x2xf32>) {
  // expected-error @+1 {{'nn.attention' op operand count (3) does not match with the total size (0) specified in attribute 'operandSegmentSizes'}}
  %0:2 = "nn.attention"(%x, %x, %x) {operandSegmentSizes = array<i32: 1, 1, 1>, scale = 1.0} : (tensor<2x2x2x2xf32>, tensor<2x2x2x2xf32>, tensor<2x2x2x2xf32>) -> (tensor<2x2x2x2xf32>, tensor<2x2x2xf32>)
  return
}

// -----

// expected-error @+1 {{'nn.step' op expected 3 regions}}
"nn.step"() ({
  "nn.yield"() : () -> ()
}) {sym_name = "s", microbatches = 1 : i64, input_names = []} : () -> ()

// -----

// expected-error @+1 {{'nn.step' op attribute 'input_names' failed to satisfy constraint: string array attribute}}
"nn.step"() ({ "nn.yield"() : () -> () }, { "nn.carry"() {names = [], combiners = []} : () -> () }, { "nn.yield"() : () -> () })
  {sym_name = "s", microbatches = 1 : i64, input_names = [1]} : () -> ()

// -----

// expected-error @+1 {{'nn.parameter' op requires attribute 'type'}}
"nn.parameter"() {sym_name = "w", initializer = 0 : i32} : () -> ()

// -----

nn.parameter @w : tensor<4xf32> constant
func.func @f() {
  // expected-error @+1 {{'nn.read' op attribute 'variable' failed to satisfy constraint: flat symbol reference attribute}}
  %0 = "nn.read"() {variable = "w"} : () -> tensor<4xf32>
  return
}

// -----

func.func @w() { return }
func.func @f() {
  // expected-error @+1 {{'nn.read' op expects a parameter, state or cache named @w, there is none}}
  %0 = nn.read @w : tensor<4xf32>
  return
}
