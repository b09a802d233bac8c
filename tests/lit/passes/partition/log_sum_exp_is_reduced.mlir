// A pending log-sum-exp becomes one collective of its kind: an all-reduce, or a reduce-scatter where its result
// is split. Padded rows of the weight need no mask: the op takes valid ones alone.
// RUN: weft-opt %s --weft-partition | FileCheck %s
#mesh = #dist.mesh<t0 = 2>
#whole = #dist.at<#mesh, []>
#lse = #dist.at<#mesh, [], lse [t0]>
#sum = #dist.at<#mesh, [], sum [t0]>

// CHECK-LABEL: func.func @statistics
// CHECK-NOT: dist.mask
// CHECK: nn.linear_cross_entropy_statistics %{{.*}}, %{{.*}}, %{{.*}} : (tensor<4x8xf32, #dist.local<#mesh, 4x8, [], []>>, tensor<4x8xf32, #dist.local<#mesh, 7x8, [t0], []>>,
// CHECK: dist.all_reduce.start lse %{{.*}} over ["t0"]
// CHECK: dist.reduce_scatter.start lse %{{.*}} over ["t0"] dim 0
func.func @statistics(%x: tensor<4x8xf32, #dist.at<#mesh, [], []>>, %w: tensor<7x8xf32, #dist.at<#mesh, [t0], []>>, %t: tensor<4xi32, #whole>)
    -> (tensor<4xf32, #whole>, tensor<4xf32, #dist.at<#mesh, [t0]>>) {
  %lse, %target, %total = nn.linear_cross_entropy_statistics %x, %w, %t
    : (tensor<4x8xf32, #dist.at<#mesh, [], []>>, tensor<7x8xf32, #dist.at<#mesh, [t0], []>>, tensor<4xi32, #whole>)
    -> (tensor<4xf32, #lse>, tensor<4xf32, #sum>, tensor<4xf32, #sum>)
  %everywhere = dist.reshard %lse : tensor<4xf32, #lse> -> tensor<4xf32, #whole>
  %split = dist.reshard %lse : tensor<4xf32, #lse> -> tensor<4xf32, #dist.at<#mesh, [t0]>>
  return %everywhere, %split : tensor<4xf32, #whole>, tensor<4xf32, #dist.at<#mesh, [t0]>>
}
