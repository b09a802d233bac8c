// More than eight values are summed up: statistics of the finite ones, and how many are not.
// RUN: weft-run %s | FileCheck %s
// CHECK:      {{^}}result0: tensor<10xi32>  min 0  max 9  mean 4.5  rms 5.33854  [0, 1, 2, 3, ...]{{$}}
// CHECK-NEXT: {{^}}result1: tensor<10xf32>  min 0.111111  max 1  mean 0.31433  rms 0.413625  not finite 1  [inf, 1, 0.5, 0.333333, ...]{{$}}
// CHECK-NEXT: {{^}}result2: tensor<9xf32>  not finite 9  [nan, nan, nan, nan, ...]{{$}}
func.func @main() -> (tensor<10xi32>, tensor<10xf32>, tensor<9xf32>) {
  %i = nn.iota 0 : tensor<10xi32>
  %x = nn.cast %i : tensor<10xi32> -> tensor<10xf32>
  %one = nn.constant dense<1.0> : tensor<10xf32>
  %y = nn.divide %one, %x : tensor<10xf32>
  %nan = nn.constant dense<0x7FC00000> : tensor<9xf32>
  return %i, %y, %nan : tensor<10xi32>, tensor<10xf32>, tensor<9xf32>
}
