// Forward and backward of the loss head become one launch over the logits when the cotangents are known before: here they
// are constants. The log-sum-exp is then a result, not an operand.
// RUN: weft-opt %s --weft-schedule --weft-fuse | FileCheck %s

// CHECK:      module attributes {weft.composites = {linear_cross_entropy_forward_backward = array<i64: 1, 0>}}
// CHECK:      sched.launch "linear_cross_entropy_forward_backward"
// CHECK-SAME:   : (tensor<6xf32>, tensor<6xf32>, tensor<6x8xf32>, tensor<16x8xf32>, tensor<6xi32>) -> (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6x8xf32>, tensor<16x8xf32>)
// CHECK-NOT:  "linear_cross_entropy"
// CHECK-NOT:  "linear_cross_entropy_backward"
func.func @f(%x: tensor<6x8xf32>, %w: tensor<16x8xf32>, %t: tensor<6xi32>)
    -> (tensor<f32>, tensor<6x8xf32>, tensor<16x8xf32>) {
  %loss, %z, %lse = nn.linear_cross_entropy %x, %w, %t
    : (tensor<6x8xf32>, tensor<16x8xf32>, tensor<6xi32>) -> (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>)
  %sum = nn.reduce sum %loss [0] : tensor<6xf32> -> tensor<f32>
  %one = nn.constant dense<1.0> : tensor<f32>
  %d = nn.broadcast %one [] : tensor<f32> -> tensor<6xf32>
  %dz = nn.constant dense<0.0> : tensor<6xf32>
  %dx, %dw = nn.linear_cross_entropy_backward %d, %dz, %x, %w, %t, %lse
    : (tensor<6xf32>, tensor<6xf32>, tensor<6x8xf32>, tensor<16x8xf32>, tensor<6xi32>, tensor<6xf32>) -> (tensor<6x8xf32>, tensor<16x8xf32>)
  return %sum, %dx, %dw : tensor<f32>, tensor<6x8xf32>, tensor<16x8xf32>
}
