// Boundaries, stop_gradients and broadcasts that repeat nothing vanish, also inside a group; reshapes are views.
// RUN: weft-opt %s --weft-schedule --weft-fuse | FileCheck %s

// CHECK:      %[[X:.*]] = sched.load "input/0"
// CHECK-NEXT: %[[Y:.*]] = sched.launch "elementwise"(%[[X]])
// CHECK-NEXT: %[[V:.*]] = sched.view %[[Y]] : tensor<4xf32> -> tensor<2x2xf32>
// CHECK-NEXT: sched.store "output/0", %[[V]]
func.func @f(%x: tensor<4xf32>) -> tensor<2x2xf32> {
  %a = nn.boundary 1 %x : tensor<4xf32>
  %b = nn.stop_gradient %a : tensor<4xf32>
  %c = nn.exp %b : tensor<4xf32>
  %d = nn.broadcast %c [0] : tensor<4xf32> -> tensor<4xf32>
  %e = nn.multiply %d, %c : tensor<4xf32>
  %f = nn.reshape %e : tensor<4xf32> -> tensor<2x2xf32>
  return %f : tensor<2x2xf32>
}
