// RUN: weft-opt %s --split-input-file --verify-diagnostics
// Each data rank would step along the gradient of its own samples, and replicas would drift apart.

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
func.func @wrong(%p: tensor<8xf32, #dist.at<#mesh, []>>, %g: tensor<8xf32, #dist.at<#mesh, [], sum [d0]>>, %m: tensor<8xf32, #dist.at<#mesh, []>>, %lr: tensor<f32, #dist.at<#mesh>>) {
  // expected-error @+1 {{takes operand 1, whose sum over [d0] is pending: [] sum [d0]. It is not linear in it: reshard operand 1 first}}
  %new, %moment = nn.sgd %p, %g, %m, %lr {momentum = 0.9 : f64, weight_decay = 0.0 : f64} : (tensor<8xf32, #dist.at<#mesh, []>>, tensor<8xf32, #dist.at<#mesh, [], sum [d0]>>, tensor<8xf32, #dist.at<#mesh, []>>, tensor<f32, #dist.at<#mesh>>) -> (tensor<8xf32, #dist.at<#mesh, []>>, tensor<8xf32, #dist.at<#mesh, []>>)
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
func.func @right(%p: tensor<8xf32, #dist.at<#mesh, []>>, %g: tensor<8xf32, #dist.at<#mesh, []>>, %m: tensor<8xf32, #dist.at<#mesh, []>>, %lr: tensor<f32, #dist.at<#mesh>>) {
  %new, %moment = nn.sgd %p, %g, %m, %lr {momentum = 0.9 : f64, weight_decay = 0.0 : f64} : (tensor<8xf32, #dist.at<#mesh, []>>, tensor<8xf32, #dist.at<#mesh, []>>, tensor<8xf32, #dist.at<#mesh, []>>, tensor<f32, #dist.at<#mesh>>) -> (tensor<8xf32, #dist.at<#mesh, []>>, tensor<8xf32, #dist.at<#mesh, []>>)
  return
}
