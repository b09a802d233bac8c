// Where a parameter's use splits the vocabulary, the loss head becomes statistics of a part, a reduction of one
// log-sum-exp and two sums per token, and a finish; its backward becomes the partial form. A parameter that is
// not split leaves both as they are.
// RUN: weft-opt %s --weft-place | FileCheck %s
// RUN: sed 's/#dist.at<#mesh, \[t0\], \[\]>/#dist.at<#mesh, [], []>/' %s | weft-opt --weft-place | FileCheck %s --check-prefix=WHOLE
#mesh = #dist.mesh<t0 = 2>
module attributes {dist.mesh = #mesh} {
  nn.parameter @head : tensor<7x8xf32> constant {dist.use = #dist.at<#mesh, [t0], []>}

  // CHECK-LABEL: func.func @head_of_seven_words
  // CHECK-NOT: nn.linear_cross_entropy %
  // CHECK: %[[LSE:.*]], %{{.*}}, %{{.*}} = nn.linear_cross_entropy_statistics %{{.*}}, %{{.*}}, %{{.*}} {softcap = 5.000000e+00 : f64}
  // CHECK-SAME: tensor<7x8xf32, #dist.at<#mesh, [t0], []>>
  // CHECK-SAME: -> (tensor<4xf32, #dist.at<#mesh, [], lse [t0]>>, tensor<4xf32, #dist.at<#mesh, [], sum [t0]>>, tensor<4xf32, #dist.at<#mesh, [], sum [t0]>>)
  // CHECK: %[[EVERYWHERE:.*]] = dist.reshard %[[LSE]] : tensor<4xf32, #dist.at<#mesh, [], lse [t0]>> -> tensor<4xf32, #dist.at<#mesh, []>>
  // CHECK: nn.linear_cross_entropy_backward %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[EVERYWHERE]]
  // CHECK-SAME: label_smoothing = 1.000000e-01 : f64
  // CHECK-SAME: part_of = 7 : i64
  // CHECK-SAME: -> (tensor<4x8xf32, #dist.at<#mesh, [], [], sum [t0]>>, tensor<7x8xf32, #dist.at<#mesh, [t0], []>>)
  // WHOLE-NOT: nn.linear_cross_entropy_statistics
  // WHOLE-NOT: part_of
  // WHOLE: return
  func.func @head_of_seven_words(%x: tensor<4x8xf32>, %t: tensor<4xi32>, %d: tensor<4xf32>) -> (tensor<4xf32>, tensor<4x8xf32>, tensor<7x8xf32>) {
    %w = nn.read @head : tensor<7x8xf32>
    %loss, %z, %lse = nn.linear_cross_entropy %x, %w, %t {ignore_index = 3 : i64, label_smoothing = 0.1 : f64, softcap = 5.0 : f64}
      : (tensor<4x8xf32>, tensor<7x8xf32>, tensor<4xi32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
    %dx, %dw = nn.linear_cross_entropy_backward %d, %d, %x, %w, %t, %lse {ignore_index = 3 : i64, label_smoothing = 0.1 : f64, softcap = 5.0 : f64}
      : (tensor<4xf32>, tensor<4xf32>, tensor<4x8xf32>, tensor<7x8xf32>, tensor<4xi32>, tensor<4xf32>) -> (tensor<4x8xf32>, tensor<7x8xf32>)
    return %loss, %dx, %dw : tensor<4xf32>, tensor<4x8xf32>, tensor<7x8xf32>
  }
}
