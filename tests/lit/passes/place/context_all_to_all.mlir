// RUN: weft-opt %s --weft-seed-placements=context=all_to_all --weft-place --split-input-file | FileCheck %s
// RUN: weft-opt %s --weft-seed-placements=context=all_to_all --weft-place --weft-partition --split-input-file | FileCheck %s --check-prefix=LOCAL
// Around an attention the sequence is split over context; in it, heads are. Each operand changes by one exchange, and so does
// the result, to whatever wants it: here the boundary.
#mesh = #dist.mesh<c0 = 2 : context = [c0]>
module attributes {dist.mesh = #mesh} {
  // CHECK-LABEL: func.func @f
  // CHECK-DAG:   %[[Q:.*]] = dist.reshard %arg0 : tensor<2x8x4x4xf32, #dist.at<#mesh, [], [c0], [], []>> -> tensor<2x8x4x4xf32, #dist.at<#mesh, [], [], [c0], []>>
  // CHECK-DAG:   %[[K:.*]] = dist.reshard %arg1 : tensor<2x8x2x4xf32, #dist.at<#mesh, [], [c0], [], []>> -> tensor<2x8x2x4xf32, #dist.at<#mesh, [], [], [c0], []>>
  // CHECK:       %[[O:.*]], %{{.*}} = nn.attention %[[Q]], %[[K]], %{{.*}} {{.*}} -> (tensor<2x8x4x4xf32, #dist.at<#mesh, [], [], [c0], []>>, tensor<2x4x8xf32, #dist.at<#mesh, [], [c0], []>>)
  // CHECK:       dist.reshard %[[O]] : {{.*}} -> tensor<2x8x4x4xf32, #dist.at<#mesh, [], [c0], [], []>>
  // LOCAL-LABEL: func.func @f
  // LOCAL-COUNT-3: dist.all_to_all.start %{{.*}} over ["c0"] from 1 to 2
  // LOCAL:         nn.attention
  // LOCAL:         dist.all_to_all.start %{{.*}} over ["c0"] from 2 to 1
  // LOCAL-NOT:     dist.all_{{gather|to_all}}
  // LOCAL:         return
  func.func @f(%q: tensor<2x8x4x4xf32>, %k: tensor<2x8x2x4xf32>, %v: tensor<2x8x2x4xf32>) -> tensor<f32> {
    %o, %lse = nn.attention %q, %k, %v {scale = 0.5, causal}
      : (tensor<2x8x4x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>) -> (tensor<2x8x4x4xf32>, tensor<2x4x8xf32>)
    %0 = nn.boundary 0 %o : tensor<2x8x4x4xf32>
    %t = nn.tanh %0 : tensor<2x8x4x4xf32>
    %s = nn.reduce sum %t [0, 1, 2, 3] : tensor<2x8x4x4xf32> -> tensor<f32>
    return %s : tensor<f32>
  }
}

// -----

// One group for two tensor ranks and two context ranks: its heads are split, and its keys and values are everywhere.
#mesh = #dist.mesh<c0 = 2, t0 = 2 : context = [c0], tensor = [t0]>
module attributes {dist.mesh = #mesh} {
  // CHECK-LABEL: func.func @one_group
  // CHECK:       nn.attention {{.*}} : (tensor<2x8x4x4xf32, #dist.at<#mesh, [], [], [t0, c0], []>>, tensor<2x8x1x4xf32, #dist.at<#mesh, [], [], [], []>>,
  func.func @one_group(%q: tensor<2x8x4x4xf32>, %k: tensor<2x8x1x4xf32>, %v: tensor<2x8x1x4xf32>) -> tensor<2x8x4x4xf32> {
    %o, %lse = nn.attention %q, %k, %v {scale = 0.5, causal}
      : (tensor<2x8x4x4xf32>, tensor<2x8x1x4xf32>, tensor<2x8x1x4xf32>) -> (tensor<2x8x4x4xf32>, tensor<2x4x8xf32>)
    return %o : tensor<2x8x4x4xf32>
  }
}
