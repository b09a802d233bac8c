// RUN: weft-opt %s --split-input-file --verify-diagnostics
// Two gradients of a tied embedding are added before the ranks are: the same number, and other bits than on one rank.

#mesh = #dist.mesh<d0 = 2 : data = [d0]>
#leaves = #dist.at<#mesh, [], tree [d0]>
func.func @wrong(%lookup: tensor<8xf32, #leaves>, %head: tensor<8xf32, #leaves>) {
  // expected-error @+1 {{takes operand 0, whose tree over [d0] is pending: [] tree [d0]. An op on its terms would give other bits than one on the sum: reshard operand 0 first}}
  %sum = nn.add %lookup, %head : (tensor<8xf32, #leaves>, tensor<8xf32, #leaves>) -> tensor<8xf32, #leaves>
  return
}

// -----

#mesh = #dist.mesh<d0 = 2 : data = [d0]>
#leaves = #dist.at<#mesh, [], tree [d0]>
#part = #dist.at<#mesh, [d0]>
func.func @right(%lookup: tensor<8xf32, #leaves>, %head: tensor<8xf32, #leaves>) -> tensor<8xf32, #part> {
  %first = dist.reshard %lookup : tensor<8xf32, #leaves> -> tensor<8xf32, #part>
  %second = dist.reshard %head : tensor<8xf32, #leaves> -> tensor<8xf32, #part>
  %sum = nn.add %first, %second : (tensor<8xf32, #part>, tensor<8xf32, #part>) -> tensor<8xf32, #part>
  return %sum : tensor<8xf32, #part>
}
