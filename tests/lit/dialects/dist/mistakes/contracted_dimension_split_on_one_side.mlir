// RUN: weft-opt %s --split-input-file --verify-diagnostics
// The activation holds its part of the features, the weight all of them: the products would pair features that are not the
// same.

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
func.func @wrong(%x: tensor<4x8xf32, #dist.at<#mesh, [], [t0]>>, %w: tensor<8x6xf32, #dist.at<#mesh, [], []>>) {
  // expected-error @+1 {{operand 0 dimension 1 and operand 1 dimension 0 are one, and are split differently: [t0] and []. Reshard one of them first}}
  %y = nn.einsum "bf,fh->bh" (%x, %w) : (tensor<4x8xf32, #dist.at<#mesh, [], [t0]>>, tensor<8x6xf32, #dist.at<#mesh, [], []>>) -> tensor<4x6xf32, #dist.at<#mesh, [], [], sum [t0]>>
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
func.func @right(%x: tensor<4x8xf32, #dist.at<#mesh, [], [t0]>>, %w: tensor<8x6xf32, #dist.at<#mesh, [], []>>) -> tensor<4x6xf32, #dist.at<#mesh, [], [], sum [t0]>> {
  %part = dist.reshard %w : tensor<8x6xf32, #dist.at<#mesh, [], []>> -> tensor<8x6xf32, #dist.at<#mesh, [t0], []>>
  %y = nn.einsum "bf,fh->bh" (%x, %part) : (tensor<4x8xf32, #dist.at<#mesh, [], [t0]>>, tensor<8x6xf32, #dist.at<#mesh, [t0], []>>) -> tensor<4x6xf32, #dist.at<#mesh, [], [], sum [t0]>>
  return %y : tensor<4x6xf32, #dist.at<#mesh, [], [], sum [t0]>>
}
