// The loss head is not merged where the cotangent depends on the loss itself, nor where forward and backward differ in an
// attribute.
// RUN: weft-opt %s --weft-schedule --weft-fuse | FileCheck %s

// CHECK-NOT:   forward_backward
// CHECK-LABEL: sched.program "depends"
// CHECK:       sched.launch "linear_cross_entropy"
// CHECK:       sched.launch "linear_cross_entropy_backward"
func.func @depends(%x: tensor<6x8xf32>, %w: tensor<16x8xf32>, %t: tensor<6xi32>) -> (tensor<6x8xf32>, tensor<16x8xf32>) {
  %loss, %z, %lse = nn.linear_cross_entropy %x, %w, %t
    : (tensor<6x8xf32>, tensor<16x8xf32>, tensor<6xi32>) -> (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>)
  %d = nn.tanh %loss : tensor<6xf32>
  %dx, %dw = nn.linear_cross_entropy_backward %d, %z, %x, %w, %t, %lse
    : (tensor<6xf32>, tensor<6xf32>, tensor<6x8xf32>, tensor<16x8xf32>, tensor<6xi32>, tensor<6xf32>) -> (tensor<6x8xf32>, tensor<16x8xf32>)
  return %dx, %dw : tensor<6x8xf32>, tensor<16x8xf32>
}
// CHECK-LABEL: sched.program "differs"
// CHECK:       sched.launch "linear_cross_entropy"
// CHECK:       sched.launch "linear_cross_entropy_backward"
func.func @differs(%x: tensor<6x8xf32>, %w: tensor<16x8xf32>, %t: tensor<6xi32>) -> (tensor<6x8xf32>, tensor<16x8xf32>) {
  %loss, %z, %lse = nn.linear_cross_entropy %x, %w, %t {label_smoothing = 0.1}
    : (tensor<6x8xf32>, tensor<16x8xf32>, tensor<6xi32>) -> (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>)
  %d = nn.constant dense<1.0> : tensor<6xf32>
  %dx, %dw = nn.linear_cross_entropy_backward %d, %d, %x, %w, %t, %lse
    : (tensor<6xf32>, tensor<6xf32>, tensor<6x8xf32>, tensor<16x8xf32>, tensor<6xi32>, tensor<6xf32>) -> (tensor<6x8xf32>, tensor<16x8xf32>)
  return %dx, %dw : tensor<6x8xf32>, tensor<16x8xf32>
}
