// RUN: weft-opt %s --split-input-file --verify-diagnostics
// A gradient is rounded to bfloat16 before its terms are added: every term loses 16 bits, not the sum.

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
#terms = #dist.at<#mesh, [], sum [d0]>
func.func @wrong(%g: tensor<8xf32, #terms>) {
  // expected-error @+1 {{rounds a value whose sum over [d0] is pending: each term would be rounded. Reshard it first; an activation that is reduced in its own type says so with the attribute wire}}
  %b = nn.cast %g : tensor<8xf32, #terms> -> tensor<8xbf16, #terms>
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
#terms = #dist.at<#mesh, [], sum [d0]>
#sum = #dist.at<#mesh, []>
func.func @right(%g: tensor<8xf32, #terms>) -> tensor<8xbf16, #sum> {
  %all = dist.reshard %g : tensor<8xf32, #terms> -> tensor<8xf32, #sum>
  %b = nn.cast %all : tensor<8xf32, #sum> -> tensor<8xbf16, #sum>
  return %b : tensor<8xbf16, #sum>
}
func.func @said_so(%activation: tensor<8xf32, #terms>) -> tensor<8xbf16, #terms> {
  %b = nn.cast %activation {wire} : tensor<8xf32, #terms> -> tensor<8xbf16, #terms>
  return %b : tensor<8xbf16, #terms>
}
