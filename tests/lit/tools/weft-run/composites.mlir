// Composites run by their decompositions: a causal attention's first query sees the first key alone, and the loss of
// equal logits is the logarithm of the vocabulary.
// RUN: weft-run %s --function attention --print | FileCheck %s --check-prefix=ATTENTION
// RUN: weft-run %s --function loss | FileCheck %s --check-prefix=LOSS
// ATTENTION: {{^}}result0: tensor<1x1x1x2xf32> = {{\[\[\[\[}}0, 0]]]]{{$}}
// LOSS: {{^}}result0: tensor<2xf32> = [1.38629, 0]{{$}}
func.func @attention(%q: tensor<1x2x2x2xf32>, %k: tensor<1x2x1x2xf32>, %v: tensor<1x2x1x2xf32>) -> tensor<1x1x1x2xf32> {
  %o, %lse = nn.attention %q, %k, %v {scale = 0.5, causal}
    : (tensor<1x2x2x2xf32>, tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> (tensor<1x2x2x2xf32>, tensor<1x2x2xf32>)
  %first = nn.slice %o [0, 0, 1, 0] : tensor<1x2x2x2xf32> -> tensor<1x1x1x2xf32>
  %value = nn.slice %v [0, 0, 0, 0] : tensor<1x2x1x2xf32> -> tensor<1x1x1x2xf32>
  %difference = nn.subtract %first, %value : tensor<1x1x1x2xf32>
  return %difference : tensor<1x1x1x2xf32>
}
func.func @loss(%x: tensor<2x3xf32>) -> tensor<2xf32> {
  %w = nn.constant dense<0.5> : tensor<4x3xf32>
  %targets = nn.constant dense<[1, -100]> : tensor<2xi32>
  %loss, %z, %lse = nn.linear_cross_entropy %x, %w, %targets
    : (tensor<2x3xf32>, tensor<4x3xf32>, tensor<2xi32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>)
  return %loss : tensor<2xf32>
}
