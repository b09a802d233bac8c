// RUN: weft-opt %s --weft-place | FileCheck %s
// Seeds at two weights and two boundaries place everything between them: the norm works on parts of the sequence, the
// column-parallel product needs all of it, and the pending sum of the row-parallel one goes straight back to parts.
#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
#x = #dist.at<#mesh, [d0], [t0], []>
module attributes {dist.mesh = #mesh} {
  // CHECK-LABEL: func.func @block
  func.func @block(%x: tensor<4x6x8xf32> {dist.at = #x}, %w: tensor<8xf32>,
                   %up: tensor<16x8xf32> {dist.at = #dist.at<#mesh, [t0], []>},
                   %down: tensor<8x16xf32> {dist.at = #dist.at<#mesh, [], [t0]>}) -> tensor<4x6x8xf32> {
    %0 = nn.boundary 0 %x {dist.at = #x} : tensor<4x6x8xf32>
    // CHECK: nn.rms_norm {{.*}} -> (tensor<4x6x8xf32, #dist.at<#mesh, [d0], [t0], []>>, tensor<4x6xf32, #dist.at<#mesh, [d0], [t0]>>)
    %n, %r = nn.rms_norm %0, %w {epsilon = 1.0e-5 : f64} : (tensor<4x6x8xf32>, tensor<8xf32>) -> (tensor<4x6x8xf32>, tensor<4x6xf32>)
    // CHECK-NEXT: %[[ALL:.*]] = dist.reshard %{{.*}} : tensor<4x6x8xf32, #dist.at<#mesh, [d0], [t0], []>> -> tensor<4x6x8xf32, #dist.at<#mesh, [d0], [], []>>
    // CHECK-NEXT: nn.einsum "bsh,fh->bsf"(%[[ALL]], {{.*}} -> tensor<4x6x16xf32, #dist.at<#mesh, [d0], [], [t0]>>
    %h = nn.einsum "bsh,fh->bsf" (%n, %up) : (tensor<4x6x8xf32>, tensor<16x8xf32>) -> tensor<4x6x16xf32>
    // CHECK-NEXT: nn.activation silu %{{.*}} : tensor<4x6x16xf32, #dist.at<#mesh, [d0], [], [t0]>>
    %a = nn.activation silu %h : tensor<4x6x16xf32>
    // CHECK-NEXT: %[[SUM:.*]] = nn.einsum "bsf,hf->bsh"{{.*}} -> tensor<4x6x8xf32, #dist.at<#mesh, [d0], [], [], sum [t0]>>
    %o = nn.einsum "bsf,hf->bsh" (%a, %down) : (tensor<4x6x16xf32>, tensor<8x16xf32>) -> tensor<4x6x8xf32>
    // CHECK-NEXT: %[[PART:.*]] = dist.reshard %[[SUM]] : {{.*}} -> tensor<4x6x8xf32, #dist.at<#mesh, [d0], [t0], []>>
    // CHECK-NEXT: nn.add %{{.*}}, %[[PART]] : tensor<4x6x8xf32, #dist.at<#mesh, [d0], [t0], []>>
    %y = nn.add %0, %o : tensor<4x6x8xf32>
    %z = nn.boundary 1 %y {dist.at = #x} : tensor<4x6x8xf32>
    return %z : tensor<4x6x8xf32>
  }
}
