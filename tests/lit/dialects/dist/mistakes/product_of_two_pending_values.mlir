// RUN: weft-opt %s --split-input-file --verify-diagnostics
// The product of two sums is not the sum of the products of their terms.

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
#terms = #dist.at<#mesh, [], sum [t0]>
func.func @wrong(%x: tensor<8xf32, #terms>, %y: tensor<8xf32, #terms>) {
  // expected-error @+1 {{multiplies two values whose sum over [t0] is pending. Reshard one of them first}}
  %z = nn.multiply %x, %y : tensor<8xf32, #terms>
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
#terms = #dist.at<#mesh, [], sum [t0]>
#sum = #dist.at<#mesh, []>
func.func @right(%x: tensor<8xf32, #terms>, %y: tensor<8xf32, #terms>) -> tensor<8xf32, #terms> {
  %factor = dist.reshard %y : tensor<8xf32, #terms> -> tensor<8xf32, #sum>
  %z = nn.multiply %x, %factor : (tensor<8xf32, #terms>, tensor<8xf32, #sum>) -> tensor<8xf32, #terms>
  return %z : tensor<8xf32, #terms>
}
