// A ring prints as it is written, and reads back from text, from the generic form and from bytecode.
// RUN: weft-opt %s | weft-opt | FileCheck %s
// RUN: weft-opt --mlir-print-op-generic %s | weft-opt | FileCheck %s
// RUN: weft-opt --emit-bytecode %s | weft-opt | FileCheck %s

#mesh = #dist.mesh<d0 = 2, c0 = 3 : context = [c0], data = [d0]>
!x = tensor<4xf32, #dist.local<#mesh, 12, [c0]>>
!block = tensor<4xf32, #dist.local<#mesh, 4, []>>
!home = tensor<4xf32, #dist.local<#mesh, 4, [], sum [c0]>>

// CHECK-LABEL: func.func @all_pairs
func.func @all_pairs(%x: !x, %k: !x) -> (!x, !x) {
  // What travels is a block in the regions; what comes home is a pending sum there.
  // CHECK: %[[Y:.*]], %[[H:.*]] = dist.ring over ["c0"] stays(%arg0 : tensor<4xf32, #dist.local<#mesh, 12, [c0]>>) travels(%arg1 : tensor<4xf32, #dist.local<#mesh, 12, [c0]>>) merged(tensor<4xf32, #dist.local<#mesh, 12, [c0]>>) home(tensor<4xf32, #dist.local<#mesh, 12, [c0]>>) first {
  %y, %h = dist.ring over ["c0"] stays(%x : !x) travels(%k : !x) merged(!x) home(!x) first {
  // CHECK-NEXT: ^bb0(%{{.*}}: tensor<4xf32, #dist.local<#mesh, 12, [c0]>>, %{{.*}}: tensor<4xf32, #dist.local<#mesh, 4, []>>):
  ^bb0(%x0: !x, %k0: !block):
    %y0 = nn.einsum "s,t->s" (%x0, %k0) : (!x, !block) -> !x
    %h0 = nn.einsum "s,t->t" (%x0, %k0) : (!x, !block) -> !home
    // CHECK: dist.yield %{{.*}}, %{{.*}} : tensor<4xf32, #dist.local<#mesh, 12, [c0]>>, tensor<4xf32, #dist.local<#mesh, 4, [], sum [c0]>>
    dist.yield %y0, %h0 : !x, !home
  // CHECK-NEXT: } next {
  } next {
  ^bb0(%x0: !x, %k0: !block, %y0: !x, %h0: !home):
    %y1 = nn.einsum "s,t->s" (%x0, %k0) : (!x, !block) -> !x
    %h1 = nn.einsum "s,t->t" (%x0, %k0) : (!x, !block) -> !home
    %y2 = nn.add %y0, %y1 : !x
    %h2 = nn.add %h0, %h1 : !home
    dist.yield %y2, %h2 : !x, !home
  }
  return %y, %h : !x, !x
}

// CHECK-LABEL: func.func @nothing_comes_home
func.func @nothing_comes_home(%k: !x) -> tensor<4xf32, #dist.local<#mesh, 4, [], sum [c0]>> {
  // CHECK: dist.ring over ["c0"] travels(%arg0 : tensor<4xf32, #dist.local<#mesh, 12, [c0]>>) merged(tensor<4xf32, #dist.local<#mesh, 4, [], sum [c0]>>) first {
  %y = dist.ring over ["c0"] travels(%k : !x) merged(!home) first {
  ^bb0(%k0: !block):
    %y0 = dist.keep_first %k0 over ["c0"] : !block -> !home
    dist.yield %y0 : !home
  } next {
  ^bb0(%k0: !block, %y0: !home):
    %y1 = dist.keep_first %k0 over ["c0"] : !block -> !home
    %y2 = nn.add %y0, %y1 : !home
    dist.yield %y2 : !home
  }
  return %y : !home
}
