// RUN: weft-opt %s --split-input-file --verify-diagnostics
// Queries and keys are split over the same ranks, and nothing says that keys travel: each query would see the keys of its
// own rank alone.

#mesh = #dist.mesh<c0 = 2, c1 = 2 : context = [c0]>
!q = tensor<1x8x2x4xf32, #dist.at<#mesh, [], [c0], [], []>>
!i = tensor<1x8xi32, #dist.at<#mesh, [], [c0]>>
!lse = tensor<1x2x8xf32, #dist.at<#mesh, [], [], [c0]>>
func.func @wrong(%q: !q, %k: !q, %v: !q, %i: !i, %j: !i) {
  // expected-error @+1 {{needs dimension 1 of operand 1 whole, it is split over [c0]. Reshard it first, or split another dimension}}
  %o, %l = nn.attention %q, %k, %v positions(%i, %j) {causal, scale = 0.5 : f64} : (!q, !q, !q, !i, !i) -> (!q, !lse)
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
