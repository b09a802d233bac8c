// RUN: weft-opt %s --weft-partition --split-input-file --verify-diagnostics
// Blocks of a ring are of one size.

#mesh = #dist.mesh<c0 = 3 : context = [c0]>
!q = tensor<1x8x2x4xf32, #dist.at<#mesh, [], [c0], [], []>>
!i = tensor<1x8xi32, #dist.at<#mesh, [], [c0]>>
func.func @uneven(%q: !q, %i: !i) {
  // expected-error @+1 {{goes around a ring of 3 ranks over [c0], which does not divide its 8 positions; blocks are of one size}}
  %o, %l = nn.attention %q, %q, %q positions(%i, %i) {ring, scale = 0.5 : f64} : (!q, !q, !q, !i, !i) -> (!q, tensor<1x2x8xf32, #dist.at<#mesh, [], [], [c0]>>)
  return
}
