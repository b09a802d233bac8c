// RUN: weft-opt %s --split-input-file --verify-diagnostics
// The global norm sums squares over the ranks that split a parameter. A norm weight is whole on each of them: added
// before that sum, its squares count once per rank.

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
#split = #dist.at<#mesh, [t0], []>
func.func @wrong(%up: tensor<8x4xf32, #split>, %norm: tensor<4xf32, #dist.at<#mesh, []>>) {
  %a = nn.squared_norm %up : tensor<8x4xf32, #split> -> tensor<f64, #dist.at<#mesh, sum [t0]>>
  %b = nn.squared_norm %norm : tensor<4xf32, #dist.at<#mesh, []>> -> tensor<f64, #dist.at<#mesh>>
  // expected-error @+1 {{adds operand 1 to a value whose sum over [t0] is pending: it would be counted 2 times. Operand 0 is sum [t0], operand 1 is (replicated). Reshard operand 0 first, or let one rank alone add}}
  %c = nn.add %a, %b : (tensor<f64, #dist.at<#mesh, sum [t0]>>, tensor<f64, #dist.at<#mesh>>) -> tensor<f64, #dist.at<#mesh, sum [t0]>>
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
#split = #dist.at<#mesh, [t0], []>
#terms = #dist.at<#mesh, sum [t0]>
func.func @right(%up: tensor<8x4xf32, #split>, %norm: tensor<4xf32, #dist.at<#mesh, []>>) -> tensor<f64, #dist.at<#mesh>> {
  %a = nn.squared_norm %up : tensor<8x4xf32, #split> -> tensor<f64, #terms>
  %b = nn.squared_norm %norm : tensor<4xf32, #dist.at<#mesh, []>> -> tensor<f64, #dist.at<#mesh>>
  %one = dist.reshard %b : tensor<f64, #dist.at<#mesh>> -> tensor<f64, #terms>
  %c = nn.add %a, %one : tensor<f64, #terms>
  %norm2 = dist.reshard %c : tensor<f64, #terms> -> tensor<f64, #dist.at<#mesh>>
  return %norm2 : tensor<f64, #dist.at<#mesh>>
}
