// Element-wise ops of one shape become one launch: constants are immediates, broadcasts are read by strides, and what is
// read outside is a result. Codes are those of kernels/common/ElementwiseOps.h.
// RUN: weft-opt %s --weft-schedule --weft-fuse | FileCheck %s

// CHECK:      %[[W:.*]] = sched.load "input/1"
// CHECK:      %[[X:.*]] = sched.load "input/0"
// CHECK-NEXT: %[[Y:.*]]:2 = sched.launch "elementwise"(%[[X]], %[[W]])
// CHECK-SAME:   constants = array<f64: 2.000000e+00>
// CHECK-SAME:   operand_strides = array<i64: 8, 1, 0, 1>
// CHECK-SAME:   shape = array<i64: 4, 8>
// CHECK-SAME:   : (tensor<4x8xf32>, tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>)
// CHECK-NEXT: sched.store "output/0", %[[Y]]#0
// CHECK-NEXT: sched.store "output/1", %[[Y]]#1
// CHECK-NOT:  nn.
func.func @f(%x: tensor<4x8xf32>, %w: tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %two = nn.constant dense<2.0> : tensor<4x8xf32>
  %rows = nn.broadcast %w [1] : tensor<8xf32> -> tensor<4x8xf32>
  %a = nn.multiply %x, %two : tensor<4x8xf32>
  %b = nn.add %a, %rows : tensor<4x8xf32>
  %c = nn.tanh %b : tensor<4x8xf32>
  return %b, %c : tensor<4x8xf32>, tensor<4x8xf32>
}
