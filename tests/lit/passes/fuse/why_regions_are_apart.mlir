// The module says why a value crosses from one region to another, and how often.
// RUN: weft-opt %s --weft-schedule --weft-fuse | FileCheck %s

// CHECK: weft.apart = {"another shape" = 1 : i64, "reduce of other dimensions than the last reads in between" = 1 : i64, "reduce of rows shorter than 64 reads in between" = 1 : i64}
func.func @f(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<8xf32>, tensor<4x8xf32>) {
  %a = nn.multiply %x, %x : tensor<4x8xf32>
  %sum = nn.reduce sum %a [1] : tensor<4x8xf32> -> tensor<4xf32>
  %root = nn.sqrt %sum : tensor<4xf32>
  %rows = nn.broadcast %root [0] : tensor<4xf32> -> tensor<4x8xf32>
  %b = nn.divide %a, %rows : tensor<4x8xf32>
  %column = nn.reduce sum %b [0] : tensor<4x8xf32> -> tensor<8xf32>
  %c = nn.exp %b : tensor<4x8xf32>
  return %a, %column, %c : tensor<4x8xf32>, tensor<8xf32>, tensor<4x8xf32>
}
