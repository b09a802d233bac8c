// RUN: weft-opt %s --split-input-file --verify-diagnostics
// Context parallelism splits the queries. A rank that took its first query for the first of all would mask the wrong keys:
// queries may be split only where each knows its position. Keys and values are needed whole; what a part of the queries
// gives for them is a term.

#mesh = #dist.mesh<c0 = 2 : context = [c0]>
func.func @wrong(%q: tensor<2x6x8x4xf32, #dist.at<#mesh, [], [c0], [], []>>, %k: tensor<2x6x2x4xf32, #dist.at<#mesh, [], [], [], []>>) {
  // expected-error @+1 {{'nn.attention' op needs dimension 1 of operand 0 whole, it is split over [c0]. Reshard it first, or split another dimension}}
  %o, %l = nn.attention %q, %k, %k {causal, scale = 0.5 : f64} : (tensor<2x6x8x4xf32, #dist.at<#mesh, [], [c0], [], []>>, tensor<2x6x2x4xf32, #dist.at<#mesh, [], [], [], []>>, tensor<2x6x2x4xf32, #dist.at<#mesh, [], [], [], []>>) -> (tensor<2x6x8x4xf32, #dist.at<#mesh, [], [c0], [], []>>, tensor<2x8x6xf32, #dist.at<#mesh, [], [], [c0]>>)
  return
}

// -----

#mesh = #dist.mesh<c0 = 2 : context = [c0]>
func.func @wrong_keys(%q: tensor<2x6x8x4xf32, #dist.at<#mesh, [], [], [], []>>, %k: tensor<2x6x2x4xf32, #dist.at<#mesh, [], [c0], [], []>>, %i: tensor<2x6xi32, #dist.at<#mesh, [], []>>, %j: tensor<2x6xi32, #dist.at<#mesh, [], [c0]>>) {
  // expected-error @+1 {{'nn.attention' op needs dimension 1 of operand 1 whole, it is split over [c0]. Reshard it first, or split another dimension}}
  %o, %l = nn.attention %q, %k, %k positions(%i, %j) {causal, scale = 0.5 : f64} : (tensor<2x6x8x4xf32, #dist.at<#mesh, [], [], [], []>>, tensor<2x6x2x4xf32, #dist.at<#mesh, [], [c0], [], []>>, tensor<2x6x2x4xf32, #dist.at<#mesh, [], [c0], [], []>>, tensor<2x6xi32, #dist.at<#mesh, [], []>>, tensor<2x6xi32, #dist.at<#mesh, [], [c0]>>) -> (tensor<2x6x8x4xf32, #dist.at<#mesh, [], [], [], []>>, tensor<2x8x6xf32, #dist.at<#mesh, [], [], []>>)
  return
}

// -----

#mesh = #dist.mesh<c0 = 2 : context = [c0]>
func.func @right(%q: tensor<2x6x8x4xf32, #dist.at<#mesh, [], [c0], [], []>>, %k: tensor<2x6x2x4xf32, #dist.at<#mesh, [], [], [], []>>, %i: tensor<2x6xi32, #dist.at<#mesh, [], [c0]>>, %j: tensor<2x6xi32, #dist.at<#mesh, [], []>>) -> (tensor<2x6x8x4xf32, #dist.at<#mesh, [], [c0], [], []>>, tensor<2x6x2x4xf32, #dist.at<#mesh, [], [], [], [], sum [c0]>>, tensor<2x6x2x4xf32, #dist.at<#mesh, [], [], [], [], sum [c0]>>) {
  %o, %l = nn.attention %q, %k, %k positions(%i, %j) {causal, scale = 0.5 : f64} : (tensor<2x6x8x4xf32, #dist.at<#mesh, [], [c0], [], []>>, tensor<2x6x2x4xf32, #dist.at<#mesh, [], [], [], []>>, tensor<2x6x2x4xf32, #dist.at<#mesh, [], [], [], []>>, tensor<2x6xi32, #dist.at<#mesh, [], [c0]>>, tensor<2x6xi32, #dist.at<#mesh, [], []>>) -> (tensor<2x6x8x4xf32, #dist.at<#mesh, [], [c0], [], []>>, tensor<2x8x6xf32, #dist.at<#mesh, [], [], [c0]>>)
  %dq, %dk, %dv = nn.attention_backward %o, %q, %k, %k, %o, %l positions(%i, %j) {causal, scale = 0.5 : f64} : (tensor<2x6x8x4xf32, #dist.at<#mesh, [], [c0], [], []>>, tensor<2x6x8x4xf32, #dist.at<#mesh, [], [c0], [], []>>, tensor<2x6x2x4xf32, #dist.at<#mesh, [], [], [], []>>, tensor<2x6x2x4xf32, #dist.at<#mesh, [], [], [], []>>, tensor<2x6x8x4xf32, #dist.at<#mesh, [], [c0], [], []>>, tensor<2x8x6xf32, #dist.at<#mesh, [], [], [c0]>>, tensor<2x6xi32, #dist.at<#mesh, [], [c0]>>, tensor<2x6xi32, #dist.at<#mesh, [], []>>) -> (tensor<2x6x8x4xf32, #dist.at<#mesh, [], [c0], [], []>>, tensor<2x6x2x4xf32, #dist.at<#mesh, [], [], [], [], sum [c0]>>, tensor<2x6x2x4xf32, #dist.at<#mesh, [], [], [], [], sum [c0]>>)
  return %dq, %dk, %dv : tensor<2x6x8x4xf32, #dist.at<#mesh, [], [c0], [], []>>, tensor<2x6x2x4xf32, #dist.at<#mesh, [], [], [], [], sum [c0]>>, tensor<2x6x2x4xf32, #dist.at<#mesh, [], [], [], [], sum [c0]>>
}
