// RUN: weft-opt %s --split-input-file --verify-diagnostics
// An activation function is applied to terms: silu(a) + silu(b) is not silu(a + b).

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
#terms = #dist.at<#mesh, [], [], sum [t0]>
func.func @wrong(%x: tensor<4x8xf32, #terms>) {
  // expected-error @+1 {{takes operand 0, whose sum over [t0] is pending: [] [] sum [t0]. It is not linear in it: reshard operand 0 first}}
  %y = nn.activation silu %x : tensor<4x8xf32, #terms>
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
#terms = #dist.at<#mesh, [], [], sum [t0]>
#part = #dist.at<#mesh, [], [t0]>
func.func @right(%x: tensor<4x8xf32, #terms>) -> tensor<4x8xf32, #part> {
  %sum = dist.reshard %x : tensor<4x8xf32, #terms> -> tensor<4x8xf32, #part>
  %y = nn.activation silu %sum : tensor<4x8xf32, #part>
  return %y : tensor<4x8xf32, #part>
}
