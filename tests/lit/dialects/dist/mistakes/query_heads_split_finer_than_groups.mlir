// RUN: weft-opt %s --split-input-file --verify-diagnostics
// Two query groups on four tensor ranks: the heads of a group are on two ranks, which both need the group's keys. A rank
// whose keys were cut as finely as its heads would hold no whole group.

#mesh = #dist.mesh<t0 = 2, t1 = 2 : tensor = [t0, t1]>
func.func @wrong(%q: tensor<2x6x8x4xf32, #dist.at<#mesh, [], [], [t0, t1], []>>, %k: tensor<2x6x2x4xf32, #dist.at<#mesh, [], [], [t0, t1], []>>, %v: tensor<2x6x2x4xf32, #dist.at<#mesh, [], [], [t0, t1], []>>) {
  // expected-error @+1 {{operand 0 dimension 2 and operand 1 dimension 2 are one, and are split differently: [t0] and [t0, t1]. Reshard one of them first}}
  %o, %l = nn.attention %q, %k, %v {causal, scale = 0.5 : f64} : (tensor<2x6x8x4xf32, #dist.at<#mesh, [], [], [t0, t1], []>>, tensor<2x6x2x4xf32, #dist.at<#mesh, [], [], [t0, t1], []>>, tensor<2x6x2x4xf32, #dist.at<#mesh, [], [], [t0, t1], []>>) -> (tensor<2x6x8x4xf32, #dist.at<#mesh, [], [], [t0, t1], []>>, tensor<2x8x6xf32, #dist.at<#mesh, [], [t0, t1], []>>)
  return
}

// -----

// One axis of four cannot be shared out between groups and the heads of a group.
#mesh = #dist.mesh<t0 = 4 : tensor = [t0]>
func.func @wrong_axis(%q: tensor<2x6x8x4xf32, #dist.at<#mesh, [], [], [t0], []>>, %k: tensor<2x6x2x4xf32, #dist.at<#mesh, [], [], [], []>>, %v: tensor<2x6x2x4xf32, #dist.at<#mesh, [], [], [], []>>) {
  // expected-error @+1 {{cannot have dimension 2 of operand 0 split over [t0]: it is made of several, and the parts would cut through them. Reshard it first}}
  %o, %l = nn.attention %q, %k, %v {causal, scale = 0.5 : f64} : (tensor<2x6x8x4xf32, #dist.at<#mesh, [], [], [t0], []>>, tensor<2x6x2x4xf32, #dist.at<#mesh, [], [], [], []>>, tensor<2x6x2x4xf32, #dist.at<#mesh, [], [], [], []>>) -> (tensor<2x6x8x4xf32, #dist.at<#mesh, [], [], [t0], []>>, tensor<2x8x6xf32, #dist.at<#mesh, [], [t0], []>>)
  return
}

// -----

#mesh = #dist.mesh<t0 = 2, t1 = 2 : tensor = [t0, t1]>
func.func @right(%q: tensor<2x6x8x4xf32, #dist.at<#mesh, [], [], [t0, t1], []>>, %k: tensor<2x6x2x4xf32, #dist.at<#mesh, [], [], [t0], []>>, %v: tensor<2x6x2x4xf32, #dist.at<#mesh, [], [], [t0], []>>) {
  %o, %l = nn.attention %q, %k, %v {causal, scale = 0.5 : f64} : (tensor<2x6x8x4xf32, #dist.at<#mesh, [], [], [t0, t1], []>>, tensor<2x6x2x4xf32, #dist.at<#mesh, [], [], [t0], []>>, tensor<2x6x2x4xf32, #dist.at<#mesh, [], [], [t0], []>>) -> (tensor<2x6x8x4xf32, #dist.at<#mesh, [], [], [t0, t1], []>>, tensor<2x8x6xf32, #dist.at<#mesh, [], [t0, t1], []>>)
  return
}
