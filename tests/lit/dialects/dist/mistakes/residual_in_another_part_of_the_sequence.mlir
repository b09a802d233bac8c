// RUN: weft-opt %s --split-input-file --verify-diagnostics
// The residual stream is split along the sequence, the block's output is not: ranks would add different positions.

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
#part = #dist.at<#mesh, [d0], [t0], []>
#all = #dist.at<#mesh, [d0], [], []>
func.func @wrong(%x: tensor<4x6x8xf32, #part>, %y: tensor<4x6x8xf32, #all>) {
  // expected-error @+1 {{operand 0 dimension 1 and operand 1 dimension 1 are one, and are split differently: [t0] and []. Reshard one of them first}}
  %z = nn.add %x, %y : (tensor<4x6x8xf32, #part>, tensor<4x6x8xf32, #all>) -> tensor<4x6x8xf32, #part>
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
#part = #dist.at<#mesh, [d0], [t0], []>
#all = #dist.at<#mesh, [d0], [], []>
func.func @right(%x: tensor<4x6x8xf32, #part>, %y: tensor<4x6x8xf32, #all>) -> tensor<4x6x8xf32, #part> {
  %part = dist.reshard %y : tensor<4x6x8xf32, #all> -> tensor<4x6x8xf32, #part>
  %z = nn.add %x, %part : tensor<4x6x8xf32, #part>
  return %z : tensor<4x6x8xf32, #part>
}
