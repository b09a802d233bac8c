// RUN: weft-opt %s --split-input-file --verify-diagnostics
// Under ZeRO-3 a weight is stored in parts over the data ranks, as the batch is: a product of the two would be rows of one
// rank's samples with that rank's features alone.

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
func.func @wrong(%x: tensor<4x8xf32, #dist.at<#mesh, [d0], []>>, %w: tensor<6x8xf32, #dist.at<#mesh, [d0], []>>) {
  // expected-error @+1 {{would split two things over [d0]: operand 0 dimension 0 and operand 1 dimension 0. Reshard one of them first}}
  %y = nn.einsum "bh,fh->bf" (%x, %w) : (tensor<4x8xf32, #dist.at<#mesh, [d0], []>>, tensor<6x8xf32, #dist.at<#mesh, [d0], []>>) -> tensor<4x6xf32, #dist.at<#mesh, [d0], []>>
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
func.func @right(%x: tensor<4x8xf32, #dist.at<#mesh, [d0], []>>, %w: tensor<6x8xf32, #dist.at<#mesh, [d0], []>>) -> tensor<4x6xf32, #dist.at<#mesh, [d0], []>> {
  %whole = dist.reshard %w : tensor<6x8xf32, #dist.at<#mesh, [d0], []>> -> tensor<6x8xf32, #dist.at<#mesh, [], []>>
  %y = nn.einsum "bh,fh->bf" (%x, %whole) : (tensor<4x8xf32, #dist.at<#mesh, [d0], []>>, tensor<6x8xf32, #dist.at<#mesh, [], []>>) -> tensor<4x6xf32, #dist.at<#mesh, [d0], []>>
  return %y : tensor<4x6xf32, #dist.at<#mesh, [d0], []>>
}
