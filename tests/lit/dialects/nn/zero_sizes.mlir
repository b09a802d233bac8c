// A dimension of size 0 is a dimension like any other: ops on empty tensors verify, and the loss head of no hidden
// dimension decomposes.
// RUN: weft-opt %s | FileCheck %s
// RUN: weft-run %s --function loss --print | FileCheck %s --check-prefix=LOSS

// CHECK: nn.einsum "ab,bc->ac"
func.func @product(%x: tensor<2x0xf32>, %y: tensor<0x3xf32>) -> tensor<2x3xf32> {
  %0 = nn.einsum "ab,bc->ac" (%x, %y) : (tensor<2x0xf32>, tensor<0x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
// Logits of 0 over 4 tokens: log 4.
// LOSS: {{^}}result0: tensor<1xf32> = [1.386294361119890{{[0-9]*}}]{{$}}
func.func @loss(%x: tensor<1x0xf32>, %w: tensor<4x0xf32>) -> tensor<1xf32> {
  %t = nn.constant dense<1> : tensor<1xi32>
  %loss, %z, %lse = nn.linear_cross_entropy %x, %w, %t
    : (tensor<1x0xf32>, tensor<4x0xf32>, tensor<1xi32>) -> (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>)
  return %loss : tensor<1xf32>
}
