// RUN: weft-opt %s --split-input-file --verify-diagnostics
// What the mark of a ring asks: positions, as many keys as queries, and the global view.

func.func @no_positions(%q: tensor<1x8x2x4xf32>) {
  // expected-error @+1 {{is marked ring, where keys come in any order, and lacks positions of query and key}}
  %o, %l = nn.attention %q, %q, %q {ring, scale = 0.5 : f64} : (tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>) -> (tensor<1x8x2x4xf32>, tensor<1x2x8xf32>)
  return
}

// -----

func.func @fewer_keys(%q: tensor<1x8x2x4xf32>, %k: tensor<1x6x2x4xf32>, %i: tensor<1x8xi32>, %j: tensor<1x6xi32>) {
  // expected-error @+1 {{is marked ring, where queries and keys are split alike, and has 8 queries for 6 keys}}
  %o, %l = nn.attention %q, %k, %k positions(%i, %j) {ring, scale = 0.5 : f64} : (tensor<1x8x2x4xf32>, tensor<1x6x2x4xf32>, tensor<1x6x2x4xf32>, tensor<1x8xi32>, tensor<1x6xi32>) -> (tensor<1x8x2x4xf32>, tensor<1x2x8xf32>)
  return
}

// -----

#mesh = #dist.mesh<c0 = 2 : context = [c0]>
!q = tensor<1x4x2x4xf32, #dist.local<#mesh, 1x8x2x4, [], [c0], [], []>>
!i = tensor<1x4xi32, #dist.local<#mesh, 1x8, [], [c0]>>
func.func @local(%q: !q, %i: !i) {
  // expected-error @+1 {{is marked ring, which is of the global view; what one rank runs of it is a dist.ring}}
  %o, %l = nn.attention %q, %q, %q positions(%i, %i) {ring, scale = 0.5 : f64} : (!q, !q, !q, !i, !i) -> (!q, tensor<1x2x4xf32, #dist.local<#mesh, 1x2x8, [], [], [c0]>>)
  return
}

// -----

// A merge: log-sum-exps that fit the outputs.
func.func @merge(%o: tensor<1x8x2x4xf32>, %l: tensor<1x8x2xf32>) {
  // expected-error @+1 {{expects log-sum-exps of type 'tensor<1x2x8xf32>', got 'tensor<1x8x2xf32>'}}
  %r, %m = nn.attention_merge %o, %l, %o, %l : tensor<1x8x2x4xf32>, tensor<1x8x2xf32>
  return
}

// -----

func.func @merge_rank(%o: tensor<8x2x4xf32>, %l: tensor<2x8xf32>) {
  // expected-error @+1 {{expects outputs of rank 4 [batch, positions, heads, dimension], got 'tensor<8x2x4xf32>'}}
  %r, %m = nn.attention_merge %o, %l, %o, %l : tensor<8x2x4xf32>, tensor<2x8xf32>
  return
}
