// RUN: weft-opt %s --split-input-file --verify-diagnostics
// The norm of a gradient is taken before its terms are added over the data ranks.

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
#terms = #dist.at<#mesh, [], sum [d0]>
func.func @wrong(%g: tensor<8xf32, #terms>) {
  // expected-error @+1 {{takes operand 0, whose sum over [d0] is pending: [] sum [d0]. It is not linear in it: reshard operand 0 first}}
  %n = nn.squared_norm %g : tensor<8xf32, #terms> -> tensor<f64, #dist.at<#mesh, sum [d0]>>
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
#terms = #dist.at<#mesh, [], sum [d0]>
#part = #dist.at<#mesh, [d0]>
func.func @right(%g: tensor<8xf32, #terms>) -> tensor<f64, #dist.at<#mesh, sum [d0]>> {
  %sum = dist.reshard %g : tensor<8xf32, #terms> -> tensor<8xf32, #part>
  %n = nn.squared_norm %sum : tensor<8xf32, #part> -> tensor<f64, #dist.at<#mesh, sum [d0]>>
  return %n : tensor<f64, #dist.at<#mesh, sum [d0]>>
}
