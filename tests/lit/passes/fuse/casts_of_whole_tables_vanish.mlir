// A table that is cast so that rows of it are read, and that a loss head multiplies, is cast by neither: the rows that are read are
// cast, and the head rounds the weight itself.
// RUN: weft-opt %s --weft-schedule --weft-fuse | FileCheck %s

// CHECK-NOT:   tensor<16x8xbf16>
// CHECK:       sched.launch "gather"
// CHECK-SAME:    : (tensor<16x8xf32>, tensor<6xi32>) -> tensor<6x8xf32>
// CHECK:       sched.launch "elementwise"
// CHECK-SAME:    : (tensor<6x8xf32>) -> tensor<6x8xbf16>
// CHECK:       sched.launch "linear_cross_entropy"
// CHECK-SAME:    weight_type = array<i64: 3>
// CHECK-SAME:    : (tensor<6x8xbf16>, tensor<16x8xf32>, tensor<6xi32>)
// CHECK-NOT:   tensor<16x8xbf16>
func.func @f(%table: tensor<16x8xf32>, %t: tensor<6xi32>) -> tensor<6xf32> {
  %w = nn.cast %table : tensor<16x8xf32> -> tensor<16x8xbf16>
  %x = nn.gather %w, %t : (tensor<16x8xbf16>, tensor<6xi32>) -> tensor<6x8xbf16>
  %loss, %z, %lse = nn.linear_cross_entropy %x, %w, %t
    : (tensor<6x8xbf16>, tensor<16x8xbf16>, tensor<6xi32>) -> (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>)
  return %loss : tensor<6xf32>
}
