#mesh = #dist.mesh<d0 = 2, t0 = 3 : data = [d0], tensor = [t0]>
func.func @local(%x: tensor<2x3xf32, #dist.local<#mesh, 4x8, [d0], [t0]>>, %w: tensor<5x3xf32, #dist.local<#mesh, 5x8, [], [t0]>>) {
  %a = dist.mask %x dim 1 value 0.0 : tensor<2x3xf32, #dist.local<#mesh, 4x8, [d0], [t0]>>
  %b = dist.mask %w dim 1 value 0.0 : tensor<5x3xf32, #dist.local<#mesh, 5x8, [], [t0]>>
  %y = nn.einsum "bh,fh->bf" (%a, %b) : (tensor<2x3xf32, #dist.local<#mesh, 4x8, [d0], [t0]>>, tensor<5x3xf32, #dist.local<#mesh, 5x8, [], [t0]>>) -> tensor<2x5xf32, #dist.local<#mesh, 4x5, [d0], [], sum [t0]>>
  %t = dist.reduce_scatter.start sum %y over ["t0"] dim 1 : tensor<2x5xf32, #dist.local<#mesh, 4x5, [d0], [], sum [t0]>> -> !dist.token<tensor<2x2xf32, #dist.local<#mesh, 4x5, [d0], [t0]>>>
  %z = dist.wait %t : !dist.token<tensor<2x2xf32, #dist.local<#mesh, 4x5, [d0], [t0]>>>
  return
}
func.func @global(%x: tensor<4x8xf32, #dist.at<#mesh, [d0], [], max [t0]>>, %y: tensor<4x8xf32, #dist.at<#mesh, zigzag [d0], [t0]>>) {
  %a = dist.reshard %x : tensor<4x8xf32, #dist.at<#mesh, [d0], [], max [t0]>> -> tensor<4x8xf32, #dist.at<#mesh, [d0], [t0]>>
  return
}
