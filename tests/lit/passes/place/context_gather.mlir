// RUN: weft-opt %s --weft-seed-placements=context=gather --weft-place | FileCheck %s
// The sequence is split over context, in zigzag. Each rank attends with its queries to all keys: keys and values are gathered
// once and serve the backward too, whose cotangents of keys and values are sums over the ranks, and go back in parts. The
// positions of a rank's queries are a part of those of all.
#mesh = #dist.mesh<c0 = 2, t0 = 2 : context = [c0], tensor = [t0]>
module attributes {dist.mesh = #mesh} {
  // CHECK-LABEL: func.func @f
  // CHECK-SAME:  tensor<2x8x4x4xf32, #dist.at<#mesh, [], zigzag [c0], [], []>>
  // CHECK:       %[[I:.*]] = nn.iota 1 : tensor<2x8xi32, #dist.at<#mesh, [], []>>
  // CHECK-DAG:   %[[K:.*]] = dist.reshard %arg1 : {{.*}} -> tensor<2x8x2x4xf32, #dist.at<#mesh, [], [], [], []>>
  // CHECK-DAG:   %[[V:.*]] = dist.reshard %arg2 : {{.*}} -> tensor<2x8x2x4xf32, #dist.at<#mesh, [], [], [], []>>
  // CHECK-DAG:   %[[MINE:.*]] = dist.reshard %[[I]] : {{.*}} -> tensor<2x8xi32, #dist.at<#mesh, [], zigzag [c0]>>
  // CHECK:       %[[O:.*]], %[[LSE:.*]] = nn.attention %arg0, %[[K]], %[[V]] positions(%[[MINE]], %[[I]])
  // CHECK:       nn.attention_backward %[[O]], %arg0, %[[K]], %[[V]], %[[O]], %[[LSE]] positions(%[[MINE]], %[[I]])
  // CHECK-SAME:  -> (tensor<2x8x4x4xf32, #dist.at<#mesh, [], zigzag [c0], [], []>>, tensor<2x8x2x4xf32, #dist.at<#mesh, [], [], [], [], sum [c0]>>, tensor<2x8x2x4xf32, #dist.at<#mesh, [], [], [], [], sum [c0]>>)
  // CHECK:       dist.reshard %{{.*}} : tensor<2x8x2x4xf32, #dist.at<#mesh, [], [], [], [], sum [c0]>> -> tensor<2x8x2x4xf32, #dist.at<#mesh, [], zigzag [c0], [], []>>
  func.func @f(%q: tensor<2x8x4x4xf32>, %k: tensor<2x8x2x4xf32>, %v: tensor<2x8x2x4xf32>) -> (tensor<f32>) {
    %i = nn.iota 1 : tensor<2x8xi32>
    %o, %lse = nn.attention %q, %k, %v positions(%i, %i) {scale = 0.5, causal}
      : (tensor<2x8x4x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8xi32>, tensor<2x8xi32>) -> (tensor<2x8x4x4xf32>, tensor<2x4x8xf32>)
    %dq, %dk, %dv = nn.attention_backward %o, %q, %k, %v, %o, %lse positions(%i, %i) {scale = 0.5, causal}
      : (tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x4x4xf32>, tensor<2x4x8xf32>, tensor<2x8xi32>, tensor<2x8xi32>)
      -> (tensor<2x8x4x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>)
    %a = nn.tanh %dk : tensor<2x8x2x4xf32>
    %b = nn.multiply %a, %k : tensor<2x8x2x4xf32>
    %s = nn.reduce sum %b [0, 1, 2, 3] : tensor<2x8x2x4xf32> -> tensor<f32>
    return %s : tensor<f32>
  }
}
