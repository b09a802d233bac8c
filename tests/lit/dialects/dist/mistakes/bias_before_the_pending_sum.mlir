// RUN: weft-opt %s --split-input-file --verify-diagnostics
// A row-parallel projection leaves a pending sum; a bias that every rank adds to its term is counted once per rank.

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
#terms = #dist.at<#mesh, [], [], sum [t0]>
func.func @wrong(%y: tensor<4x8xf32, #terms>, %bias: tensor<8xf32, #dist.at<#mesh, []>>) {
  %b = nn.broadcast %bias [1] : tensor<8xf32, #dist.at<#mesh, []>> -> tensor<4x8xf32, #dist.at<#mesh, [], []>>
  // expected-error @+1 {{adds operand 1 to a value whose sum over [t0] is pending: it would be counted 2 times. Operand 0 is [] [] sum [t0], operand 1 is [] []. Reshard operand 0 first, or let one rank alone add}}
  %z = nn.add %y, %b : (tensor<4x8xf32, #terms>, tensor<4x8xf32, #dist.at<#mesh, [], []>>) -> tensor<4x8xf32, #terms>
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
#terms = #dist.at<#mesh, [], [], sum [t0]>
#done = #dist.at<#mesh, [], []>
func.func @reduced_first(%y: tensor<4x8xf32, #terms>, %bias: tensor<8xf32, #dist.at<#mesh, []>>) -> tensor<4x8xf32, #done> {
  %b = nn.broadcast %bias [1] : tensor<8xf32, #dist.at<#mesh, []>> -> tensor<4x8xf32, #done>
  %sum = dist.reshard %y : tensor<4x8xf32, #terms> -> tensor<4x8xf32, #done>
  %z = nn.add %sum, %b : tensor<4x8xf32, #done>
  return %z : tensor<4x8xf32, #done>
}
func.func @one_rank_adds(%y: tensor<4x8xf32, #terms>, %b: tensor<4x8xf32, #done>) -> tensor<4x8xf32, #terms> {
  %term = dist.reshard %b : tensor<4x8xf32, #done> -> tensor<4x8xf32, #terms>
  %z = nn.add %y, %term : tensor<4x8xf32, #terms>
  return %z : tensor<4x8xf32, #terms>
}
