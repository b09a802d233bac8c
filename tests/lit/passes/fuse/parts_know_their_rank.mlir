// When encodings are erased, indices become relative to the rank's part. Of a dimension with padding, an op that
// takes valid elements alone is told their number; for a gather, an index that would reach the padding is none.
// RUN: weft-opt %s --weft-place --weft-partition --weft-schedule --weft-fuse | FileCheck %s
// RUN: sed 's/tensor<7x/tensor<8x/g' %s | weft-opt --weft-place --weft-partition --weft-schedule --weft-fuse | FileCheck %s --check-prefix=EVEN
#mesh = #dist.mesh<t0 = 2, t1 = 2>
module attributes {dist.mesh = #mesh} {
  nn.parameter @table : tensor<7x8xf32> constant {dist.use = #dist.at<#mesh, [t0, t1], []>, dist.storage = #dist.at<#mesh, [t0, t1], []>}

  // CHECK-LABEL: sched.program "tied"
  // CHECK-DAG: sched.launch "rank_offset"() {settings = {axes = array<i64: 0, 1>, size = array<i64: 7>}}
  // CHECK-DAG: sched.launch "rank_valid"() {settings = {axes = array<i64: 0, 1>, size = array<i64: 7>}} : () -> tensor<i64>
  // CHECK: %[[SHIFTED:.*]] = sched.launch "elementwise"({{.*}}-> tensor<4xi32>
  // CHECK: sched.launch "gather"(%{{.*}}, %[[SHIFTED]])
  // CHECK: %[[VALID:.*]] = sched.launch "rank_valid"()
  // CHECK: sched.launch "linear_cross_entropy_statistics"(%{{.*}}, %{{.*}}, %{{.*}}, %[[VALID]])
  // CHECK-SAME: (tensor<4x8xf32>, tensor<2x8xf32>, tensor<4xi32>, tensor<i64>)
  // EVEN-LABEL: sched.program "tied"
  // EVEN-NOT: rank_valid
  // EVEN: sched.launch "linear_cross_entropy_statistics"(%{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}) {
  func.func @tied(%tokens: tensor<4xi32>, %targets: tensor<4xi32>) -> tensor<4xf32> {
    %w = nn.read @table : tensor<7x8xf32>
    %x = nn.gather %w, %tokens : (tensor<7x8xf32>, tensor<4xi32>) -> tensor<4x8xf32>
    %loss, %z, %lse = nn.linear_cross_entropy %x, %w, %targets : (tensor<4x8xf32>, tensor<7x8xf32>, tensor<4xi32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
    return %loss : tensor<4xf32>
  }
}
