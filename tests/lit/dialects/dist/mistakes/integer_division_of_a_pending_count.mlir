// RUN: weft-opt %s --split-input-file --verify-diagnostics
// Integers are rounded toward zero: 3/2 + 3/2 is not 6/2.

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
#terms = #dist.at<#mesh, sum [d0]>
func.func @wrong(%count: tensor<i64, #terms>, %two: tensor<i64, #dist.at<#mesh>>) {
  // expected-error @+1 {{takes operand 0, whose sum over [d0] is pending: sum [d0]. It is not linear in it: reshard operand 0 first}}
  %half = nn.divide %count, %two : (tensor<i64, #terms>, tensor<i64, #dist.at<#mesh>>) -> tensor<i64, #terms>
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
#all = #dist.at<#mesh>
func.func @right(%count: tensor<i64, #dist.at<#mesh, sum [d0]>>, %two: tensor<i64, #all>) -> tensor<i64, #all> {
  %sum = dist.reshard %count : tensor<i64, #dist.at<#mesh, sum [d0]>> -> tensor<i64, #all>
  %half = nn.divide %sum, %two : tensor<i64, #all>
  return %half : tensor<i64, #all>
}
