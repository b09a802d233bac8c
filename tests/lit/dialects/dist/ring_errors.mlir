// What a ring refuses: what does not travel around it, blocks of several sizes, and values on the wrong side of it.
// RUN: weft-opt %s --split-input-file --verify-diagnostics

#mesh = #dist.mesh<d0 = 2, c0 = 3, c1 = 3 : context = [c0], data = [d0]>
!x = tensor<4xf32, #dist.local<#mesh, 12, [c0]>>
!block = tensor<4xf32, #dist.local<#mesh, 4, []>>
!home = tensor<4xf32, #dist.local<#mesh, 4, [], sum [c0]>>
func.func @f(%x: !x, %k: !x) {
  // expected-error @+1 {{names an axis "p0" that the mesh does not have}}
  %y, %h = dist.ring over ["p0"] stays(%x : !x) travels(%k : !x) merged(!x) home(!x) first {
  ^bb0(%x0: !x, %k0: !block):
    %y0 = nn.einsum "s,t->s" (%x0, %k0) : (!x, !block) -> !x
    %h0 = nn.einsum "s,t->t" (%x0, %k0) : (!x, !block) -> !home
    dist.yield %y0, %h0 : !x, !home
  } next {
  ^bb0(%x0: !x, %k0: !block, %y0: !x, %h0: !home):
    dist.yield %y0, %h0 : !x, !home
  }
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, c0 = 3, c1 = 3 : context = [c0], data = [d0]>
!x = tensor<4xf32, #dist.local<#mesh, 12, [c0]>>
!block = tensor<4xf32, #dist.local<#mesh, 4, []>>
!home = tensor<4xf32, #dist.local<#mesh, 4, [], sum [c0]>>
func.func @f(%x: !x, %k: !x) {
  // expected-error @+1 {{names the axis "c0" twice}}
  %y, %h = dist.ring over ["c0", "c0"] stays(%x : !x) travels(%k : !x) merged(!x) home(!x) first {
  ^bb0(%x0: !x, %k0: !block):
    %y0 = nn.einsum "s,t->s" (%x0, %k0) : (!x, !block) -> !x
    %h0 = nn.einsum "s,t->t" (%x0, %k0) : (!x, !block) -> !home
    dist.yield %y0, %h0 : !x, !home
  } next {
  ^bb0(%x0: !x, %k0: !block, %y0: !x, %h0: !home):
    dist.yield %y0, %h0 : !x, !home
  }
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, c0 = 3, c1 = 3 : context = [c0], data = [d0]>
!x = tensor<4xf32, #dist.local<#mesh, 12, [c0]>>
!block = tensor<4xf32, #dist.local<#mesh, 4, []>>
!home = tensor<4xf32, #dist.local<#mesh, 4, [], sum [c0]>>
func.func @f(%x: !x, %k: !x) {
  // expected-error @+1 {{expects at least one axis}}
  %y, %h = dist.ring over [] stays(%x : !x) travels(%k : !x) merged(!x) home(!x) first {
  ^bb0(%x0: !x, %k0: !block):
    %y0 = nn.einsum "s,t->s" (%x0, %k0) : (!x, !block) -> !x
    %h0 = nn.einsum "s,t->t" (%x0, %k0) : (!x, !block) -> !home
    dist.yield %y0, %h0 : !x, !home
  } next {
  ^bb0(%x0: !x, %k0: !block, %y0: !x, %h0: !home):
    dist.yield %y0, %h0 : !x, !home
  }
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, c0 = 3, c1 = 3 : context = [c0], data = [d0]>
!x = tensor<4xf32, #dist.local<#mesh, 12, [c0]>>
!block = tensor<4xf32, #dist.local<#mesh, 4, []>>
!home = tensor<4xf32, #dist.local<#mesh, 4, [], sum [c0]>>
!g = tensor<12xf32, #dist.at<#mesh, [c0]>>
func.func @f(%x: !g, %k: !x) {
  // expected-error @+1 {{expects parts of a rank (#dist.local), got 'tensor<12xf32>' at [c0]}}
  %y, %h = dist.ring over ["c0"] stays(%x : !g) travels(%k : !x) merged(!x) home(!x) first {
  ^bb0(%x0: !g, %k0: !block):
    dist.yield %k0, %k0 : !block, !block
  } next {
  ^bb0(%x0: !g, %k0: !block, %y0: !x, %h0: !home):
    dist.yield %y0, %h0 : !x, !home
  }
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, c0 = 3, c1 = 3 : context = [c0], data = [d0]>
!x = tensor<4xf32, #dist.local<#mesh, 12, [c0]>>
!block = tensor<4xf32, #dist.local<#mesh, 4, []>>
!home = tensor<4xf32, #dist.local<#mesh, 4, [], sum [c0]>>
!k = tensor<4xf32, #dist.local<#mesh, 12, [c1]>>
func.func @f(%x: !x, %k: !k) {
  // expected-error @+1 {{has travelling operand 1 replicated over [c0] ([c1]): every rank would meet all of it 3 times. Split it over the ring}}
  %y, %h = dist.ring over ["c0"] stays(%x : !x) travels(%k : !k) merged(!x) home(!x) first {
  ^bb0(%x0: !x, %k0: !block):
    %y0 = nn.einsum "s,t->s" (%x0, %k0) : (!x, !block) -> !x
    %h0 = nn.einsum "s,t->t" (%x0, %k0) : (!x, !block) -> !home
    dist.yield %y0, %h0 : !x, !home
  } next {
  ^bb0(%x0: !x, %k0: !block, %y0: !x, %h0: !home):
    dist.yield %y0, %h0 : !x, !home
  }
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, c0 = 3, c1 = 3 : context = [c0], data = [d0]>
!x = tensor<4xf32, #dist.local<#mesh, 12, [c0]>>
!block = tensor<4xf32, #dist.local<#mesh, 4, []>>
!home = tensor<4xf32, #dist.local<#mesh, 4, [], sum [c0]>>
!k = tensor<2xf32, #dist.local<#mesh, 12, [c0, c1]>>
func.func @f(%x: !x, %k: !k) {
  // expected-error @+1 {{goes around [c0], but travelling operand 1 is at [c0, c1]: all axes of the ring, and no others, split one dimension of it. Reshard it first}}
  %y, %h = dist.ring over ["c0"] stays(%x : !x) travels(%k : !k) merged(!x) home(!x) first {
  ^bb0(%x0: !x, %k0: !block):
    %y0 = nn.einsum "s,t->s" (%x0, %k0) : (!x, !block) -> !x
    %h0 = nn.einsum "s,t->t" (%x0, %k0) : (!x, !block) -> !home
    dist.yield %y0, %h0 : !x, !home
  } next {
  ^bb0(%x0: !x, %k0: !block, %y0: !x, %h0: !home):
    dist.yield %y0, %h0 : !x, !home
  }
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, c0 = 3, c1 = 3 : context = [c0], data = [d0]>
!x = tensor<4xf32, #dist.local<#mesh, 12, [c0]>>
!block = tensor<4xf32, #dist.local<#mesh, 4, []>>
!home = tensor<4xf32, #dist.local<#mesh, 4, [], sum [c0]>>
!k = tensor<4xf32, #dist.local<#mesh, 11, [c0]>>
func.func @f(%x: !x, %k: !k) {
  // expected-error @+1 {{expects blocks of one size: dimension 0 of travelling operand 1 is 11, over 3 ranks}}
  %y, %h = dist.ring over ["c0"] stays(%x : !x) travels(%k : !k) merged(!x) home(!x) first {
  ^bb0(%x0: !x, %k0: !block):
    %y0 = nn.einsum "s,t->s" (%x0, %k0) : (!x, !block) -> !x
    %h0 = nn.einsum "s,t->t" (%x0, %k0) : (!x, !block) -> !home
    dist.yield %y0, %h0 : !x, !home
  } next {
  ^bb0(%x0: !x, %k0: !block, %y0: !x, %h0: !home):
    dist.yield %y0, %h0 : !x, !home
  }
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, c0 = 3, c1 = 3 : context = [c0], data = [d0]>
!x = tensor<4xf32, #dist.local<#mesh, 12, [c0]>>
!block = tensor<4xf32, #dist.local<#mesh, 4, []>>
!home = tensor<4xf32, #dist.local<#mesh, 4, [], sum [c0]>>
!p = tensor<12xf32, #dist.local<#mesh, 12, [], sum [c0]>>
func.func @f(%x: !p, %k: !x) {
  // expected-error @+1 {{takes staying operand 0, which is pending over [c0]: [] sum [c0]. Reshard it first}}
  %y, %h = dist.ring over ["c0"] stays(%x : !p) travels(%k : !x) merged(!x) home(!x) first {
  ^bb0(%x0: !p, %k0: !block):
    dist.yield %k0, %k0 : !block, !block
  } next {
  ^bb0(%x0: !p, %k0: !block, %y0: !x, %h0: !home):
    dist.yield %y0, %h0 : !x, !home
  }
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, c0 = 3, c1 = 3 : context = [c0], data = [d0]>
!x = tensor<4xf32, #dist.local<#mesh, 12, [c0]>>
!block = tensor<4xf32, #dist.local<#mesh, 4, []>>
!home = tensor<4xf32, #dist.local<#mesh, 4, [], sum [c0]>>
!w = tensor<12xf32, #dist.local<#mesh, 12, []>>
func.func @f(%x: !x, %k: !x) {
  // expected-error @+1 {{has merged result 0 replicated over [c0] ([]), but each rank merges a value of its own: it is split over the ring, or a pending sum over it}}
  %y, %h = dist.ring over ["c0"] stays(%x : !x) travels(%k : !x) merged(!w) home(!x) first {
  ^bb0(%x0: !x, %k0: !block):
    %y0 = nn.einsum "s,t->s" (%x0, %k0) : (!x, !block) -> !x
    %h0 = nn.einsum "s,t->t" (%x0, %k0) : (!x, !block) -> !home
    dist.yield %y0, %h0 : !x, !home
  } next {
  ^bb0(%x0: !x, %k0: !block, %y0: !x, %h0: !home):
    dist.yield %y0, %h0 : !x, !home
  }
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, c0 = 3, c1 = 3 : context = [c0], data = [d0]>
!x = tensor<4xf32, #dist.local<#mesh, 12, [c0]>>
!block = tensor<4xf32, #dist.local<#mesh, 4, []>>
!home = tensor<4xf32, #dist.local<#mesh, 4, [], sum [c0]>>
!w = tensor<12xf32, #dist.local<#mesh, 12, []>>
func.func @f(%x: !x, %k: !x) {
  // expected-error @+1 {{has home result 1 replicated over [c0] ([]): every rank would meet all of it 3 times. Split it over the ring}}
  %y, %h = dist.ring over ["c0"] stays(%x : !x) travels(%k : !x) merged(!x) home(!w) first {
  ^bb0(%x0: !x, %k0: !block):
    %y0 = nn.einsum "s,t->s" (%x0, %k0) : (!x, !block) -> !x
    %h0 = nn.einsum "s,t->t" (%x0, %k0) : (!x, !block) -> !home
    dist.yield %y0, %h0 : !x, !home
  } next {
  ^bb0(%x0: !x, %k0: !block, %y0: !x, %h0: !home):
    dist.yield %y0, %h0 : !x, !home
  }
  return
}

// -----

// In a region there is no ring: a block is whole.
#mesh = #dist.mesh<d0 = 2, c0 = 3, c1 = 3 : context = [c0], data = [d0]>
!x = tensor<4xf32, #dist.local<#mesh, 12, [c0]>>
!block = tensor<4xf32, #dist.local<#mesh, 4, []>>
!home = tensor<4xf32, #dist.local<#mesh, 4, [], sum [c0]>>
func.func @f(%x: !x, %k: !x) {
  // expected-error @+1 {{expects region 'first' argument 1 of type 'tensor<4xf32>', the part of 4 at [], got 'tensor<4xf32>', the part of 12 at [c0]}}
  %y, %h = dist.ring over ["c0"] stays(%x : !x) travels(%k : !x) merged(!x) home(!x) first {
  ^bb0(%x0: !x, %k0: !x):
    dist.yield %x0, %x0 : !x, !x
  } next {
  ^bb0(%x0: !x, %k0: !x, %y0: !x, %h0: !home):
    dist.yield %y0, %h0 : !x, !home
  }
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, c0 = 3, c1 = 3 : context = [c0], data = [d0]>
!x = tensor<4xf32, #dist.local<#mesh, 12, [c0]>>
!block = tensor<4xf32, #dist.local<#mesh, 4, []>>
!home = tensor<4xf32, #dist.local<#mesh, 4, [], sum [c0]>>
func.func @f(%x: !x, %k: !x) {
  // expected-error @+1 {{expects 4 region 'next' arguments, got 3}}
  %y, %h = dist.ring over ["c0"] stays(%x : !x) travels(%k : !x) merged(!x) home(!x) first {
  ^bb0(%x0: !x, %k0: !block):
    %y0 = nn.einsum "s,t->s" (%x0, %k0) : (!x, !block) -> !x
    %h0 = nn.einsum "s,t->t" (%x0, %k0) : (!x, !block) -> !home
    dist.yield %y0, %h0 : !x, !home
  } next {
  ^bb0(%x0: !x, %k0: !block, %y0: !x):
    dist.yield %y0, %y0 : !x, !x
  }
  return
}

// -----

// What comes home has the size of a block.
#mesh = #dist.mesh<d0 = 2, c0 = 3, c1 = 3 : context = [c0], data = [d0]>
!x = tensor<4xf32, #dist.local<#mesh, 12, [c0]>>
!block = tensor<4xf32, #dist.local<#mesh, 4, []>>
!home = tensor<4xf32, #dist.local<#mesh, 4, [], sum [c0]>>
func.func @f(%x: !x, %k: !x) {
  // expected-error @+1 {{expects region 'first' yielded value 1 of type 'tensor<4xf32>', the part of 4 at [] sum [c0], got 'tensor<4xf32>', the part of 12 at [c0]}}
  %y, %h = dist.ring over ["c0"] stays(%x : !x) travels(%k : !x) merged(!x) home(!x) first {
  ^bb0(%x0: !x, %k0: !block):
    dist.yield %x0, %x0 : !x, !x
  } next {
  ^bb0(%x0: !x, %k0: !block, %y0: !x, %h0: !home):
    dist.yield %y0, %h0 : !x, !home
  }
  return
}
