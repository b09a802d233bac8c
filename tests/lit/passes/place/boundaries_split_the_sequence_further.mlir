// RUN: weft-opt %s --weft-seed-placements="sequence=true" --weft-place | FileCheck %s
// Between layers the sequence is split over context and tensor. A product whose features take the tensor axis keeps what is
// left of that: the major part, over context. So one gather over tensor stands before it, and none over context.
#mesh = #dist.mesh<c0 = 2, t0 = 2 : context = [c0], tensor = [t0]>
module attributes {dist.mesh = #mesh} {
  nn.parameter @up : tensor<16x8xf32> constant {nn.tensor_dimension = 0 : i64}
  nn.parameter @down : tensor<8x16xf32> constant {nn.tensor_dimension = 1 : i64}
  // CHECK-LABEL: func.func @layer
  func.func @layer(%x: tensor<4x16x8xf32>) -> tensor<f32> {
    // CHECK: %[[PART:.*]] = nn.boundary 0 %{{.*}} : tensor<4x16x8xf32, #dist.at<#mesh, [], zigzag [c0, t0], []>>
    %0 = nn.boundary 0 %x : tensor<4x16x8xf32>
    %u = nn.read @up : tensor<16x8xf32>
    // CHECK: %[[ROWS:.*]] = dist.reshard %[[PART]] : {{.*}} -> tensor<4x16x8xf32, #dist.at<#mesh, [], zigzag [c0], []>>
    // CHECK: nn.einsum "bsh,fh->bsf"(%[[ROWS]], {{.*}} -> tensor<4x16x16xf32, #dist.at<#mesh, [], zigzag [c0], [t0]>>
    %h = nn.einsum "bsh,fh->bsf" (%0, %u) : (tensor<4x16x8xf32>, tensor<16x8xf32>) -> tensor<4x16x16xf32>
    %d = nn.read @down : tensor<8x16xf32>
    // CHECK: %[[SUM:.*]] = nn.einsum "bsf,hf->bsh"{{.*}} -> tensor<4x16x8xf32, #dist.at<#mesh, [], zigzag [c0], [], sum [t0]>>
    %o = nn.einsum "bsf,hf->bsh" (%h, %d) : (tensor<4x16x16xf32>, tensor<8x16xf32>) -> tensor<4x16x8xf32>
    // CHECK: dist.reshard %[[SUM]] : {{.*}} -> tensor<4x16x8xf32, #dist.at<#mesh, [], zigzag [c0, t0], []>>
    %1 = nn.boundary 1 %o : tensor<4x16x8xf32>
    %s = nn.reduce sum %1 [0, 1, 2] : tensor<4x16x8xf32> -> tensor<f32>
    return %s : tensor<f32>
  }
}
