// With regions=false each element-wise op is a launch of its own: what regions are compared with.
// RUN: weft-opt %s --weft-schedule --weft-fuse=regions=false | FileCheck %s

// CHECK:      weft.apart = {"more than 1 instruction" = 1 : i64}
// CHECK:      %[[A:.*]] = sched.launch "elementwise"
// CHECK-SAME:   program = array<i64: 17, 5, 0, 0, -1>
// CHECK-NEXT: sched.launch "elementwise"(%[[A]])
// CHECK-SAME:   program = array<i64: 6, 5, 0, -1, -1>
func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  %a = nn.multiply %x, %x : tensor<8xf32>
  %b = nn.tanh %a : tensor<8xf32>
  return %b : tensor<8xf32>
}
