// RUN: weft-opt %s --split-input-file --verify-diagnostics
// Queries are split over one axis, keys over another: a rank would meet the blocks of other ranks than those whose
// queries it merges with.

#mesh = #dist.mesh<c0 = 2, c1 = 2 : context = [c0]>
!q = tensor<1x8x2x4xf32, #dist.at<#mesh, [], [c0], [], []>>
!i = tensor<1x8xi32, #dist.at<#mesh, [], [c0]>>
!lse = tensor<1x2x8xf32, #dist.at<#mesh, [], [], [c0]>>
!other = tensor<1x8x2x4xf32, #dist.at<#mesh, [], [c1], [], []>>
!j = tensor<1x8xi32, #dist.at<#mesh, [], [c1]>>
func.func @wrong(%q: !q, %k: !other, %v: !other, %i: !i, %j: !j) {
  // expected-error @+1 {{operand 0 dimension 1 and operand 1 dimension 1 are one, and are split differently: [c0] and [c1]. Reshard one of them first}}
  %o, %l = nn.attention %q, %k, %v positions(%i, %j) {causal, scale = 0.5 : f64, ring} : (!q, !other, !other, !i, !j) -> (!q, !lse)
  return
}

// -----

#mesh = #dist.mesh<c0 = 2, c1 = 2 : context = [c0]>
!q = tensor<1x8x2x4xf32, #dist.at<#mesh, [], [c0], [], []>>
!i = tensor<1x8xi32, #dist.at<#mesh, [], [c0]>>
!lse = tensor<1x2x8xf32, #dist.at<#mesh, [], [], [c0]>>
func.func @right(%q: !q, %k: !q, %v: !q, %i: !i, %j: !i) -> (!q, !lse) {
  %o, %l = nn.attention %q, %k, %v positions(%i, %j) {causal, scale = 0.5 : f64, ring} : (!q, !q, !q, !i, !i) -> (!q, !lse)
  return %o, %l : !q, !lse
}
