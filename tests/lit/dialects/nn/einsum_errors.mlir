// What an einsum refuses: equations that are none, and letters that do not fit the types.
// RUN: weft-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'nn.einsum' op expects an equation "lhs,rhs->result" of letters a-z, none twice in a term, got "ab->ab"}}
  %0 = nn.einsum "ab->ab" (%x, %x) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'nn.einsum' op expects an equation "lhs,rhs->result" of letters a-z, none twice in a term, got "ab,ab,ab->ab"}}
  %0 = nn.einsum "ab,ab,ab->ab" (%x, %x) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x2xf32>) {
  // expected-error @+1 {{'nn.einsum' op expects an equation "lhs,rhs->result" of letters a-z, none twice in a term, got "aa,ab->ab"}}
  %0 = nn.einsum "aa,ab->ab" (%x, %x) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x2xf32>) {
  // expected-error @+1 {{'nn.einsum' op expects an equation "lhs,rhs->result" of letters a-z, none twice in a term, got "aB,ab->ab"}}
  %0 = nn.einsum "aB,ab->ab" (%x, %x) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'nn.einsum' op lhs term "a" has 1 letters, its type 'tensor<2x3xf32>' has 2 dimensions}}
  %0 = nn.einsum "a,ab->ab" (%x, %x) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'nn.einsum' op letter 'b' has size 3 and, in rhs, 2}}
  %0 = nn.einsum "ab,bc->ac" (%x, %x) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'nn.einsum' op letter 'a' has size 2 and, in result, 3}}
  %0 = nn.einsum "ab,ab->a" (%x, %x) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'nn.einsum' op result letter 'c' is in neither operand}}
  %0 = nn.einsum "ab,ab->c" (%x, %x) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xi32>) {
  // expected-error @+1 {{'nn.einsum' op operand #0 must be statically shaped tensor of}}
  %0 = nn.einsum "ab,ab->a" (%x, %x) : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2xi32>
  return
}
