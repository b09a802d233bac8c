// Tensors have a static shape, an element type that kernels know, and a size that a machine can address.
// RUN: weft-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<?xf32>) {
  // expected-error @+1 {{'nn.exp' op operand #0 must be statically shaped tensor of}}
  %0 = nn.exp %x : tensor<?xf32>
  return
}

// -----

func.func @f(%x: tensor<4xi32>) {
  // expected-error @+1 {{'nn.exp' op operand #0 must be statically shaped tensor of}}
  %0 = nn.exp %x : tensor<4xi32>
  return
}

// -----

func.func @f(%x: tensor<4xcomplex<f32>>) {
  // expected-error @+1 {{'nn.add' op operand #0 must be statically shaped tensor of}}
  %0 = nn.add %x, %x : tensor<4xcomplex<f32>>
  return
}

// -----

func.func @f(%x: tensor<4294967296x4294967296xf32>) {
  // expected-error @+1 {{'nn.exp' op operand #0 must be statically shaped tensor of}}
  %0 = nn.exp %x : tensor<4294967296x4294967296xf32>
  return
}
