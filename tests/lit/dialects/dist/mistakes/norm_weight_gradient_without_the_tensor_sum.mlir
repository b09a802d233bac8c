// RUN: weft-opt %s --split-input-file --verify-diagnostics
// In a sequence-parallel region each tensor rank sees its part of the sequence, so the gradient of a replicated norm
// weight is a term of a sum over them too. Averaging it over data alone trains tensor ranks apart.

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
#x = #dist.at<#mesh, [d0], [t0], []>
#r = #dist.at<#mesh, [d0], [t0]>
#w = #dist.at<#mesh, []>
func.func @wrong(%g: tensor<4x6x8xf32, #x>, %x: tensor<4x6x8xf32, #x>, %w: tensor<8xf32, #w>, %r: tensor<4x6xf32, #r>) {
  // expected-error @+1 {{gives a result whose sum over [t0] is pending, its type says [] sum [d0] instead of [] sum [d0, t0]. dist.reshard takes the sum}}
  %dx, %dw = nn.rms_norm_backward %g, %x, %w, %r {epsilon = 1.0e-5 : f64} : (tensor<4x6x8xf32, #x>, tensor<4x6x8xf32, #x>, tensor<8xf32, #w>, tensor<4x6xf32, #r>) -> (tensor<4x6x8xf32, #x>, tensor<8xf32, #dist.at<#mesh, [], sum [d0]>>)
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
#x = #dist.at<#mesh, [d0], [t0], []>
#r = #dist.at<#mesh, [d0], [t0]>
#w = #dist.at<#mesh, []>
#terms = #dist.at<#mesh, [], sum [d0, t0]>
func.func @right(%g: tensor<4x6x8xf32, #x>, %x: tensor<4x6x8xf32, #x>, %w: tensor<8xf32, #w>, %r: tensor<4x6xf32, #r>) -> tensor<8xf32, #w> {
  %dx, %dw = nn.rms_norm_backward %g, %x, %w, %r {epsilon = 1.0e-5 : f64} : (tensor<4x6x8xf32, #x>, tensor<4x6x8xf32, #x>, tensor<8xf32, #w>, tensor<4x6xf32, #r>) -> (tensor<4x6x8xf32, #x>, tensor<8xf32, #terms>)
  %sum = dist.reshard %dw : tensor<8xf32, #terms> -> tensor<8xf32, #w>
  return %sum : tensor<8xf32, #w>
}
