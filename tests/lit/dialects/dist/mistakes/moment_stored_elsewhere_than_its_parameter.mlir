// RUN: weft-opt %s --split-input-file --verify-diagnostics
// The optimizer meets a part of the parameter with all of its moment: rows would be updated by the moments of others.

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
func.func @wrong(%p: tensor<8xf32, #dist.at<#mesh, [d0]>>, %g: tensor<8xf32, #dist.at<#mesh, [d0]>>, %m: tensor<8xf32, #dist.at<#mesh, []>>, %lr: tensor<f32, #dist.at<#mesh>>) {
  // expected-error @+1 {{operand 0 dimension 0 and operand 2 dimension 0 are one, and are split differently: [d0] and []. Reshard one of them first}}
  %new, %moment = nn.sgd %p, %g, %m, %lr {momentum = 0.9 : f64, weight_decay = 0.0 : f64} : (tensor<8xf32, #dist.at<#mesh, [d0]>>, tensor<8xf32, #dist.at<#mesh, [d0]>>, tensor<8xf32, #dist.at<#mesh, []>>, tensor<f32, #dist.at<#mesh>>) -> (tensor<8xf32, #dist.at<#mesh, [d0]>>, tensor<8xf32, #dist.at<#mesh, [d0]>>)
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
func.func @right(%p: tensor<8xf32, #dist.at<#mesh, [d0]>>, %g: tensor<8xf32, #dist.at<#mesh, [d0]>>, %m: tensor<8xf32, #dist.at<#mesh, [d0]>>, %lr: tensor<f32, #dist.at<#mesh>>) {
  %new, %moment = nn.sgd %p, %g, %m, %lr {momentum = 0.9 : f64, weight_decay = 0.0 : f64} : (tensor<8xf32, #dist.at<#mesh, [d0]>>, tensor<8xf32, #dist.at<#mesh, [d0]>>, tensor<8xf32, #dist.at<#mesh, [d0]>>, tensor<f32, #dist.at<#mesh>>) -> (tensor<8xf32, #dist.at<#mesh, [d0]>>, tensor<8xf32, #dist.at<#mesh, [d0]>>)
  return
}
