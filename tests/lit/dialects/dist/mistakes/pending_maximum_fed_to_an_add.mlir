// RUN: weft-opt %s --split-input-file --verify-diagnostics
// Each rank has the largest of its part; their sums with something else are no maxima to be taken later, unless it is the
// same everywhere, which no rule relies on.

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
#largest = #dist.at<#mesh, [], max [t0]>
func.func @wrong(%x: tensor<8xf32, #largest>) {
  // expected-error @+1 {{takes operand 0, whose maximum over [t0] is pending: [] max [t0]. nn.maximum alone passes a maximum on: reshard operand 0 first}}
  %z = nn.add %x, %x : tensor<8xf32, #largest>
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
#largest = #dist.at<#mesh, [], max [t0]>
#all = #dist.at<#mesh, []>
func.func @right(%x: tensor<8xf32, #largest>) -> tensor<8xf32, #all> {
  %m = dist.reshard %x : tensor<8xf32, #largest> -> tensor<8xf32, #all>
  %z = nn.add %m, %m : tensor<8xf32, #all>
  return %z : tensor<8xf32, #all>
}
// A bound that every rank knows joins the maxima: counted on each rank, it counts once.
func.func @maximum(%x: tensor<8xf32, #largest>, %bound: tensor<8xf32, #all>) -> tensor<8xf32, #largest> {
  %z = nn.maximum %x, %bound : (tensor<8xf32, #largest>, tensor<8xf32, #all>) -> tensor<8xf32, #largest>
  return %z : tensor<8xf32, #largest>
}
