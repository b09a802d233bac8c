// RUN: weft-opt %s --split-input-file --verify-diagnostics
// float16 has more digits than bfloat16 and far smaller numbers: terms of a sum may overflow where the sum would not.

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
#terms = #dist.at<#mesh, [], sum [t0]>
func.func @wrong(%g: tensor<8xbf16, #terms>) {
  // expected-error @+1 {{rounds a value whose sum over [t0] is pending: each term would be rounded. Reshard it first; an activation that is reduced in its own type says so with the attribute wire}}
  %b = nn.cast %g : tensor<8xbf16, #terms> -> tensor<8xf16, #terms>
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
#terms = #dist.at<#mesh, [], sum [t0]>
func.func @right(%g: tensor<8xbf16, #terms>) -> tensor<8xf32, #terms> {
  %b = nn.cast %g : tensor<8xbf16, #terms> -> tensor<8xf32, #terms>
  return %b : tensor<8xf32, #terms>
}
