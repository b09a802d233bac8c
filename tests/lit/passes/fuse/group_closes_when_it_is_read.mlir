// A group is launched where its last member stands; once another op has read one of its values, what comes later starts a
// new group. So does an op of another shape.
// RUN: weft-opt %s --weft-schedule --weft-fuse | FileCheck %s

// CHECK:      %[[A:.*]] = sched.launch "elementwise"(%{{.*}}) {{.*}} -> tensor<8xf32>
// CHECK-NEXT: %[[S:.*]] = sched.launch "reduce"(%[[A]]) {{.*}} -> tensor<f32>
// CHECK-NEXT: %[[B:.*]] = sched.launch "elementwise"(%[[A]]) {{.*}} -> tensor<8xf32>
// CHECK-NEXT: %[[C:.*]] = sched.launch "elementwise"(%[[S]]) {{.*}} -> tensor<f32>
// CHECK-NEXT: sched.store "output/0", %[[B]]
func.func @f(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<f32>) {
  %a = nn.exp %x : tensor<8xf32>
  %s = nn.reduce sum %a [0] : tensor<8xf32> -> tensor<f32>
  %b = nn.tanh %a : tensor<8xf32>
  %c = nn.sqrt %s : tensor<f32>
  return %b, %c : tensor<8xf32>, tensor<f32>
}
