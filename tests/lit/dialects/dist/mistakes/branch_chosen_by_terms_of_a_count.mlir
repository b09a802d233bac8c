// RUN: weft-opt %s --split-input-file --verify-diagnostics
// A comparison of terms says nothing of their sum.

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
#terms = #dist.at<#mesh, sum [d0]>
func.func @wrong(%count: tensor<i64, #terms>, %zero: tensor<i64, #terms>) {
  // expected-error @+1 {{takes operand 0, whose sum over [d0] is pending: sum [d0]. It is not linear in it: reshard operand 0 first}}
  %none = nn.compare eq %count, %zero : tensor<i64, #terms> -> tensor<i1, #dist.at<#mesh>>
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
#all = #dist.at<#mesh>
func.func @right(%count: tensor<i64, #dist.at<#mesh, sum [d0]>>, %zero: tensor<i64, #all>) -> tensor<i1, #all> {
  %sum = dist.reshard %count : tensor<i64, #dist.at<#mesh, sum [d0]>> -> tensor<i64, #all>
  %none = nn.compare eq %sum, %zero : tensor<i64, #all> -> tensor<i1, #all>
  return %none : tensor<i1, #all>
}
