// RUN: weft-opt %s --weft-partition | FileCheck %s
// Attention that is marked ring, with queries and keys split over the same axes, becomes a loop: queries stay, keys and
// values travel with their positions and segments, partial outputs are float32 and are rounded once, at the end. Sinks
// take part in the first step alone. In the backward the gradients of keys and values come home.

#mesh = #dist.mesh<d0 = 2, c0 = 2, t0 = 2 : context = [c0], data = [d0], tensor = [t0]>
!q = tensor<2x8x4x4xbf16, #dist.at<#mesh, [d0], zigzag [c0], [t0], []>>
!k = tensor<2x8x2x4xbf16, #dist.at<#mesh, [d0], zigzag [c0], [t0], []>>
!i = tensor<2x8xi32, #dist.at<#mesh, [d0], zigzag [c0]>>
!n = tensor<4xf32, #dist.at<#mesh, [t0]>>
!dn = tensor<4xf32, #dist.at<#mesh, [t0], sum [d0, c0]>>
!lse = tensor<2x4x8xf32, #dist.at<#mesh, [d0], [t0], zigzag [c0]>>

// CHECK-LABEL: func.func @forward
func.func @forward(%q: !q, %k: !k, %v: !k, %s: !i, %i: !i, %n: !n) -> (!q, !lse) {
  // CHECK: %[[RING:.*]]:2 = dist.ring over ["c0"]
  // CHECK-SAME: stays(%arg0, %arg3, %arg4, %arg5 : tensor<1x4x2x4xbf16, #dist.local<#mesh, 2x8x4x4, [d0], zigzag [c0], [t0], []>>
  // CHECK-SAME: travels(%arg1, %arg2, %arg3, %arg4 :
  // CHECK-SAME: merged(tensor<1x4x2x4xf32, #dist.local<#mesh, 2x8x4x4, [d0], zigzag [c0], [t0], []>>, tensor<1x2x4xf32, #dist.local<#mesh, 2x4x8, [d0], [t0], zigzag [c0]>>)
  // A block is whole where it is.
  // CHECK: ^bb0(%[[Q:.*]]: {{.*}}, %[[S:.*]]: {{.*}}, %[[I:.*]]: {{.*}}, %[[N:.*]]: tensor<2xf32, {{.*}}>, %[[K:.*]]: tensor<1x4x1x4xbf16, #dist.local<#mesh, 2x4x2x4, [d0], [], [t0], []>>, %[[V:.*]]: {{.*}}, %[[KS:.*]]: tensor<1x4xi32, #dist.local<#mesh, 2x4, [d0], []>>, %[[J:.*]]: tensor<1x4xi32, #dist.local<#mesh, 2x4, [d0], []>>):
  // CHECK-NEXT: %[[O:.*]], %[[L:.*]] = nn.attention %[[Q]], %[[K]], %[[V]] segments(%[[S]], %[[KS]]) positions(%[[I]], %[[J]]) sinks(%[[N]]) {causal,
  // CHECK-SAME: window = 5
  // CHECK-SAME: -> (tensor<1x4x2x4xf32,
  // CHECK-NEXT: dist.yield %[[O]], %[[L]]
  // CHECK-NEXT: } next {
  // CHECK: nn.attention {{.*}} positions({{[^)]*}}) {causal,
  // CHECK-NEXT: nn.attention_merge
  // CHECK-NEXT: dist.yield
  // CHECK-NEXT: }
  // CHECK-NEXT: %[[ROUNDED:.*]] = nn.cast %[[RING]]#0
  // CHECK-NEXT: return %[[ROUNDED]], %[[RING]]#1
  %o, %l = nn.attention %q, %k, %v segments(%s, %s) positions(%i, %i) sinks(%n) {causal, ring, scale = 0.5 : f64, window = 5} : (!q, !k, !k, !i, !i, !i, !i, !n) -> (!q, !lse)
  return %o, %l : !q, !lse
}

// CHECK-LABEL: func.func @backward
func.func @backward(%g: !q, %q: !q, %k: !k, %v: !k, %o: !q, %l: !lse, %i: !i, %n: !n) -> (!q, !k, !k, !dn) {
  // CHECK: %[[M:.*]]:2, %[[H:.*]]:2 = dist.ring over ["c0"] stays(%arg0, %arg1, %arg4, %arg5, %arg6, %arg7 :
  // CHECK-SAME: travels(%arg2, %arg3, %arg6 :
  // CHECK-SAME: merged(tensor<1x4x2x4xf32, {{.*}}, tensor<2xf32, #dist.local<#mesh, 4, [t0], sum [d0, c0]>>)
  // CHECK-SAME: home(tensor<1x4x1x4xf32, #dist.local<#mesh, 2x8x2x4, [d0], zigzag [c0], [t0], []>>,
  // CHECK: %[[DQ:.*]], %[[DK:.*]], %[[DV:.*]], %[[DN:.*]] = nn.attention_backward
  // CHECK-SAME: sinks(
  // What a rank computes of a block's gradient is one term of it.
  // CHECK-NEXT: dist.yield %[[DQ]], %[[DN]], %[[DK]], %[[DV]] : {{.*}} tensor<1x4x1x4xf32, #dist.local<#mesh, 2x4x2x4, [d0], [], [t0], [], sum [c0]>>
  // CHECK-NEXT: } next {
  // CHECK: ^bb0({{.*}}, %[[DN:[^:]*]]: tensor<2xf32, {{[^%]*}}, %[[DK1:[^:]*]]: {{[^%]*}}, %[[DV1:[^:]*]]: {{[^%]*}}):
  // CHECK-NEXT: nn.attention_backward
  // CHECK-NOT: sinks(
  // CHECK: %[[A:.*]] = nn.add
  // CHECK-NEXT: %[[B:.*]] = nn.add %[[DK1]]
  // CHECK-NEXT: %[[C:.*]] = nn.add %[[DV1]]
  // CHECK-NEXT: dist.yield %[[A]], %[[DN]], %[[B]], %[[C]]
  // CHECK: nn.cast %[[M]]#0
  // CHECK-NEXT: nn.cast %[[H]]#0
  // CHECK-NEXT: nn.cast %[[H]]#1
  %dq, %dk, %dv, %dn = nn.attention_backward %g, %q, %k, %v, %o, %l positions(%i, %i) sinks(%n) {causal, ring, scale = 0.5 : f64} : (!q, !q, !k, !k, !q, !lse, !i, !i, !n) -> (!q, !k, !k, !dn)
  return %dq, %dk, %dv, %dn : !q, !k, !k, !dn
}

// The mark alone makes no ring: nothing is split here.
#whole = #dist.at<#mesh, [], [], [], []>
// CHECK-LABEL: func.func @whole
func.func @whole(%q: tensor<2x8x4x4xf32, #whole>, %i: tensor<2x8xi32, #dist.at<#mesh, [], []>>) -> tensor<2x8x4x4xf32, #whole> {
  // CHECK: nn.attention %arg0, %arg0, %arg0 positions(%arg1, %arg1) {scale
  // CHECK-NOT: ring
  %o, %l = nn.attention %q, %q, %q positions(%i, %i) {ring, scale = 0.5 : f64} : (tensor<2x8x4x4xf32, #whole>, tensor<2x8x4x4xf32, #whole>, tensor<2x8x4x4xf32, #whole>, tensor<2x8xi32, #dist.at<#mesh, [], []>>, tensor<2x8xi32, #dist.at<#mesh, [], []>>) -> (tensor<2x8x4x4xf32, #whole>, tensor<2x4x8xf32, #dist.at<#mesh, [], [], []>>)
  return %o : tensor<2x8x4x4xf32, #whole>
}
