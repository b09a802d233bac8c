// Reductions of the last dimension, what leads to them, what is made of them and what reads that along the rows again are
// one launch: 34 and 35 are a row's sum and maximum. A value of rows is a result of rows.
// RUN: weft-opt %s --weft-schedule --weft-fuse | FileCheck %s

// CHECK:      %[[X:.*]] = sched.load "input/0"
// CHECK-NEXT: %[[Y:.*]]:2 = sched.launch "elementwise"(%[[X]])
// CHECK-SAME:   operand_strides = array<i64: 128, 1>, outputs = array<i64: 5, 7>
// CHECK-SAME:   program = array<i64: 35, 5, 0, -1, -1, 16, 5, 0, 1, -1, 2, 5, 2, -1, -1, 34, 5, 3, -1, -1, 18, 5, 3, 4, -1, 3, 5, 4, -1, -1, 15, 5, 6, 1, -1>
// CHECK-SAME:   : (tensor<16x128xf32>) -> (tensor<16x128xf32>, tensor<16xf32>)
// CHECK-NEXT: sched.store "output/0", %[[Y]]#0
// CHECK-NEXT: sched.store "output/1", %[[Y]]#1
// CHECK-NOT:  sched.launch
func.func @softmax(%x: tensor<16x128xf32>) -> (tensor<16x128xf32>, tensor<16xf32>) {
  %largest = nn.reduce max %x [1] : tensor<16x128xf32> -> tensor<16xf32>
  %rows = nn.broadcast %largest [0] : tensor<16xf32> -> tensor<16x128xf32>
  %shifted = nn.subtract %x, %rows : tensor<16x128xf32>
  %e = nn.exp %shifted : tensor<16x128xf32>
  %sum = nn.reduce sum %e [1] : tensor<16x128xf32> -> tensor<16xf32>
  %sums = nn.broadcast %sum [0] : tensor<16xf32> -> tensor<16x128xf32>
  %y = nn.divide %e, %sums : tensor<16x128xf32>
  %log = nn.log %sum : tensor<16xf32>
  %lse = nn.add %log, %largest : tensor<16xf32>
  return %y, %lse : tensor<16x128xf32>, tensor<16xf32>
}
