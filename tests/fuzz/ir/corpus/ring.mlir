#mesh = #dist.mesh<c0 = 2, c1 = 2 : context = [c0]>
!q = tensor<1x4x2x4xf32, #dist.local<#mesh, 1x8x2x4, [], [c0], [], []>>
!i = tensor<1x4xi32, #dist.local<#mesh, 1x8, [], [c0]>>
!lse = tensor<1x2x4xf32, #dist.local<#mesh, 1x2x8, [], [], [c0]>>
!block = tensor<1x4x2x4xf32, #dist.local<#mesh, 1x4x2x4, [], [], [], []>>
!j = tensor<1x4xi32, #dist.local<#mesh, 1x4, [], []>>
!dblock = tensor<1x4x2x4xf32, #dist.local<#mesh, 1x4x2x4, [], [], [], [], sum [c0]>>
func.func @right(%g: !q, %q: !q, %k: !q, %v: !q, %o: !q, %l: !lse, %i: !i, %j: !i) -> (!q, !q, !q) {
  %dq, %dk, %dv = dist.ring over ["c0"] stays(%g, %q, %o, %l, %i : !q, !q, !q, !lse, !i) travels(%k, %v, %j : !q, !q, !i) merged(!q) home(!q, !q) first {
  ^bb0(%g0: !q, %q0: !q, %o0: !q, %l0: !lse, %i0: !i, %k0: !block, %v0: !block, %j0: !j):
    %a, %b, %c = nn.attention_backward %g0, %q0, %k0, %v0, %o0, %l0 positions(%i0, %j0) {causal, scale = 0.5 : f64} : (!q, !q, !block, !block, !q, !lse, !i, !j) -> (!q, !dblock, !dblock)
    dist.yield %a, %b, %c : !q, !dblock, !dblock
  } next {
  ^bb0(%g0: !q, %q0: !q, %o0: !q, %l0: !lse, %i0: !i, %k0: !block, %v0: !block, %j0: !j, %dq0: !q, %dk0: !dblock, %dv0: !dblock):
    %a, %b, %c = nn.attention_backward %g0, %q0, %k0, %v0, %o0, %l0 positions(%i0, %j0) {causal, scale = 0.5 : f64} : (!q, !q, !block, !block, !q, !lse, !i, !j) -> (!q, !dblock, !dblock)
    %a1 = nn.add %dq0, %a : !q
    %b1 = nn.add %dk0, %b : !dblock
    %c1 = nn.add %dv0, %c : !dblock
    dist.yield %a1, %b1, %c1 : !q, !dblock, !dblock
  }
  return %dq, %dk, %dv : !q, !q, !q
}
