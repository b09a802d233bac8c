// RUN: weft-opt %s --split-input-file --verify-diagnostics
// Whether a step is skipped is decided from each rank's own terms: some would step, others not.

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
#terms = #dist.at<#mesh, sum [d0, t0]>
func.func @wrong(%squares: tensor<f64, #terms>) {
  // expected-error @+1 {{takes operand 0, whose sum over [d0, t0] is pending: sum [d0, t0]. It is not linear in it: reshard operand 0 first}}
  %finite = nn.is_finite %squares : tensor<f64, #terms> -> tensor<i1, #dist.at<#mesh>>
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
#terms = #dist.at<#mesh, sum [d0, t0]>
#all = #dist.at<#mesh>
func.func @right(%squares: tensor<f64, #terms>) -> tensor<i1, #all> {
  %sum = dist.reshard %squares : tensor<f64, #terms> -> tensor<f64, #all>
  %finite = nn.is_finite %sum : tensor<f64, #all> -> tensor<i1, #all>
  return %finite : tensor<i1, #all>
}
