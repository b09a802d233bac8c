// RUN: weft-opt %s --split-input-file --verify-diagnostics
// Keys travel, and their positions stay behind: a block is masked as if it were the one that the rank began with.

#mesh = #dist.mesh<c0 = 2, c1 = 2 : context = [c0]>
!q = tensor<1x4x2x4xf32, #dist.local<#mesh, 1x8x2x4, [], [c0], [], []>>
!i = tensor<1x4xi32, #dist.local<#mesh, 1x8, [], [c0]>>
!lse = tensor<1x2x4xf32, #dist.local<#mesh, 1x2x8, [], [], [c0]>>
!block = tensor<1x4x2x4xf32, #dist.local<#mesh, 1x4x2x4, [], [], [], []>>
!j = tensor<1x4xi32, #dist.local<#mesh, 1x4, [], []>>
!dblock = tensor<1x4x2x4xf32, #dist.local<#mesh, 1x4x2x4, [], [], [], [], sum [c0]>>
func.func @wrong(%q: !q, %k: !q, %v: !q, %i: !i, %j: !i) -> !q {
  %o, %l = dist.ring over ["c0"] stays(%q, %i : !q, !i) travels(%k, %v, %j : !q, !q, !i) merged(!q, !lse) first {
  ^bb0(%q0: !q, %i0: !i, %k0: !block, %v0: !block, %j0: !j):
    // expected-error @+1 {{has parts of 8 and of 4 in one dimension: that of operand 1 dimension 1 is 4 in the whole. Only parts of one size of the whole meet}}
    %o0, %l0 = nn.attention %q0, %k0, %v0 positions(%i0, %i0) {causal, scale = 0.5 : f64} : (!q, !block, !block, !i, !i) -> (!q, !lse)
    dist.yield %o0, %l0 : !q, !lse
  } next {
  ^bb0(%q0: !q, %i0: !i, %k0: !block, %v0: !block, %j0: !j, %o1: !q, %l1: !lse):
    %o0, %l0 = nn.attention %q0, %k0, %v0 positions(%i0, %j0) {causal, scale = 0.5 : f64} : (!q, !block, !block, !i, !j) -> (!q, !lse)
    %o2, %l2 = nn.attention_merge %o1, %l1, %o0, %l0 : !q, !lse
    dist.yield %o2, %l2 : !q, !lse
  }
  return %o : !q
}

// -----

#mesh = #dist.mesh<c0 = 2, c1 = 2 : context = [c0]>
!q = tensor<1x4x2x4xf32, #dist.local<#mesh, 1x8x2x4, [], [c0], [], []>>
!i = tensor<1x4xi32, #dist.local<#mesh, 1x8, [], [c0]>>
!lse = tensor<1x2x4xf32, #dist.local<#mesh, 1x2x8, [], [], [c0]>>
!block = tensor<1x4x2x4xf32, #dist.local<#mesh, 1x4x2x4, [], [], [], []>>
!j = tensor<1x4xi32, #dist.local<#mesh, 1x4, [], []>>
!dblock = tensor<1x4x2x4xf32, #dist.local<#mesh, 1x4x2x4, [], [], [], [], sum [c0]>>
func.func @right(%q: !q, %k: !q, %v: !q, %i: !i, %j: !i) -> !q {
  %o, %l = dist.ring over ["c0"] stays(%q, %i : !q, !i) travels(%k, %v, %j : !q, !q, !i) merged(!q, !lse) first {
  ^bb0(%q0: !q, %i0: !i, %k0: !block, %v0: !block, %j0: !j):
    %o0, %l0 = nn.attention %q0, %k0, %v0 positions(%i0, %j0) {causal, scale = 0.5 : f64} : (!q, !block, !block, !i, !j) -> (!q, !lse)
    dist.yield %o0, %l0 : !q, !lse
  } next {
  ^bb0(%q0: !q, %i0: !i, %k0: !block, %v0: !block, %j0: !j, %o1: !q, %l1: !lse):
    %o0, %l0 = nn.attention %q0, %k0, %v0 positions(%i0, %j0) {causal, scale = 0.5 : f64} : (!q, !block, !block, !i, !j) -> (!q, !lse)
    %o2, %l2 = nn.attention_merge %o1, %l1, %o0, %l0 : !q, !lse
    dist.yield %o2, %l2 : !q, !lse
  }
  return %o : !q
}
