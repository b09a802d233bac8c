// RUN: weft-opt %s --split-input-file --verify-diagnostics
// Each rank divides by the targets that it saw itself: the mean of means, which weighs tokens by how their batch was
// cut.

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
#part = #dist.at<#mesh, [d0]>
#terms = #dist.at<#mesh, sum [d0]>
func.func @wrong(%loss: tensor<4xf32, #part>, %targets: tensor<4xf32, #part>) {
  %sum = nn.reduce sum %loss [0] : tensor<4xf32, #part> -> tensor<f32, #terms>
  %count = nn.reduce sum %targets [0] : tensor<4xf32, #part> -> tensor<f32, #terms>
  // expected-error @+1 {{takes operand 1, whose sum over [d0] is pending: sum [d0]. It is not linear in it: reshard operand 1 first}}
  %mean = nn.divide %sum, %count : tensor<f32, #terms>
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
#part = #dist.at<#mesh, [d0]>
#terms = #dist.at<#mesh, sum [d0]>
#all = #dist.at<#mesh>
func.func @right(%loss: tensor<4xf32, #part>, %targets: tensor<4xf32, #part>) -> tensor<f32, #all> {
  %sum = nn.reduce sum %loss [0] : tensor<4xf32, #part> -> tensor<f32, #terms>
  %count = nn.reduce sum %targets [0] : tensor<4xf32, #part> -> tensor<f32, #terms>
  %total = dist.reshard %count : tensor<f32, #terms> -> tensor<f32, #all>
  // Dividing by what every rank knows is linear: the sum of the losses may stay pending.
  %mean = nn.divide %sum, %total : (tensor<f32, #terms>, tensor<f32, #all>) -> tensor<f32, #terms>
  %result = dist.reshard %mean : tensor<f32, #terms> -> tensor<f32, #all>
  return %result : tensor<f32, #all>
}
