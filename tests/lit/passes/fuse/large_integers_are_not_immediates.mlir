// An immediate is a double: an integer that it cannot hold exactly is read from memory.
// RUN: weft-opt %s --weft-schedule --weft-fuse | FileCheck %s

// CHECK:      %[[C:.*]] = sched.constant dense<9007199254740993> : tensor<4xi64>
// CHECK:      sched.launch "elementwise"(%{{.*}}, %[[C]])
// CHECK-SAME:   constants = array<f64: 3.000000e+00>
func.func @f(%x: tensor<4xi64>) -> tensor<4xi64> {
  %big = nn.constant dense<9007199254740993> : tensor<4xi64>
  %small = nn.constant dense<3> : tensor<4xi64>
  %a = nn.add %x, %big : tensor<4xi64>
  %b = nn.add %a, %small : tensor<4xi64>
  return %b : tensor<4xi64>
}
