// RUN: weft-opt %s --split-input-file --verify-diagnostics
// An embedding that is also the head has two gradients. That of the lookup is split over t0, that of the head is a sum
// over it: added as they are, one of them counts twice.

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
func.func @wrong(%lookup: tensor<8x4xf32, #dist.at<#mesh, [], [], sum [d0]>>, %head: tensor<8x4xf32, #dist.at<#mesh, [], [], sum [d0, t0]>>) {
  // expected-error @+1 {{adds operand 0 to a value whose sum over [t0] is pending: it would be counted 2 times. Operand 0 is [] [] sum [d0], operand 1 is [] [] sum [d0, t0]. Reshard operand 1 first, or let one rank alone add}}
  %g = nn.add %lookup, %head : (tensor<8x4xf32, #dist.at<#mesh, [], [], sum [d0]>>, tensor<8x4xf32, #dist.at<#mesh, [], [], sum [d0, t0]>>) -> tensor<8x4xf32, #dist.at<#mesh, [], [], sum [d0, t0]>>
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
#data = #dist.at<#mesh, [], [], sum [d0]>
func.func @right(%lookup: tensor<8x4xf32, #data>, %head: tensor<8x4xf32, #dist.at<#mesh, [], [], sum [d0, t0]>>) -> tensor<8x4xf32, #dist.at<#mesh, [], []>> {
  %h = dist.reshard %head : tensor<8x4xf32, #dist.at<#mesh, [], [], sum [d0, t0]>> -> tensor<8x4xf32, #data>
  %g = nn.add %lookup, %h : tensor<8x4xf32, #data>
  %sum = dist.reshard %g : tensor<8x4xf32, #data> -> tensor<8x4xf32, #dist.at<#mesh, [], []>>
  return %sum : tensor<8x4xf32, #dist.at<#mesh, [], []>>
}
