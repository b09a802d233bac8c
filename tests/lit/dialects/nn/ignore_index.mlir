// The ignored target is the one that is named: with the default of -100 a target of 0 counts.
// RUN: weft-run %s --function default --print | FileCheck %s --check-prefix=DEFAULT
// RUN: weft-run %s --function zero --print | FileCheck %s --check-prefix=ZERO
// DEFAULT: {{^}}result0: tensor<3xf32> = [1.3862943{{[0-9]*}}, 1.3862943{{[0-9]*}}, 0]{{$}}
func.func @default() -> tensor<3xf32> {
  %x = nn.constant dense<0.0> : tensor<3x2xf32>
  %w = nn.constant dense<0.0> : tensor<4x2xf32>
  %t = nn.constant dense<[0, 1, -100]> : tensor<3xi32>
  %loss, %z, %lse = nn.linear_cross_entropy %x, %w, %t
    : (tensor<3x2xf32>, tensor<4x2xf32>, tensor<3xi32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)
  return %loss : tensor<3xf32>
}
// ZERO: {{^}}result0: tensor<3xf32> = [0, 1.3862943{{[0-9]*}}, 0]{{$}}
func.func @zero() -> tensor<3xf32> {
  %x = nn.constant dense<0.0> : tensor<3x2xf32>
  %w = nn.constant dense<0.0> : tensor<4x2xf32>
  %t = nn.constant dense<[0, 1, 4]> : tensor<3xi32>
  %loss, %z, %lse = nn.linear_cross_entropy %x, %w, %t {ignore_index = 0 : i64}
    : (tensor<3x2xf32>, tensor<4x2xf32>, tensor<3xi32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)
  return %loss : tensor<3xf32>
}
