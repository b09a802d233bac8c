// RUN: weft-opt %s --split-input-file --verify-diagnostics
// A rank of a split table answers for a range of indices. Two chunks are no range.
#mesh = #dist.mesh<t0 = 2 : tensor = [t0]>
func.func @wrong(%table: tensor<8x4xf32, #dist.at<#mesh, zigzag [t0], []>>, %ids: tensor<5xi32, #dist.at<#mesh, []>>) {
  // expected-error @+1 {{'nn.gather' op has indices into dimension 0 of operand 0, which is in zigzag over [t0]: a part of it is no range of indices. Reshard it first}}
  %x = nn.gather %table, %ids : (tensor<8x4xf32, #dist.at<#mesh, zigzag [t0], []>>, tensor<5xi32, #dist.at<#mesh, []>>) -> tensor<5x4xf32, #dist.at<#mesh, [], [], sum [t0]>>
  return
}

// -----

#mesh = #dist.mesh<t0 = 2 : tensor = [t0]>
func.func @right(%table: tensor<8x4xf32, #dist.at<#mesh, [t0], []>>, %ids: tensor<5xi32, #dist.at<#mesh, []>>) -> tensor<5x4xf32, #dist.at<#mesh, [], [], sum [t0]>> {
  %x = nn.gather %table, %ids : (tensor<8x4xf32, #dist.at<#mesh, [t0], []>>, tensor<5xi32, #dist.at<#mesh, []>>) -> tensor<5x4xf32, #dist.at<#mesh, [], [], sum [t0]>>
  return %x : tensor<5x4xf32, #dist.at<#mesh, [], [], sum [t0]>>
}
