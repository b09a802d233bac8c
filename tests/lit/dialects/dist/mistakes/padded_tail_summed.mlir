// RUN: weft-opt %s --split-input-file --verify-diagnostics
// Seven rows on two ranks: the second has three, and one row of whatever was there. A reduction masks it first, with what
// is neutral for it.

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
#rows = #dist.local<#mesh, 7, [d0]>
func.func @wrong(%x: tensor<4xf32, #rows>) {
  // expected-error @+1 {{reduces dimension 0 of operand 0, 7 split over [d0]: not all parts are full, and what lies behind is unspecified. dist.mask it with 0.000000e+00 first}}
  %s = nn.reduce sum %x [0] : tensor<4xf32, #rows> -> tensor<f32, #dist.local<#mesh, scalar, sum [d0]>>
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
#rows = #dist.local<#mesh, 7, [d0]>
func.func @wrong_neutral(%x: tensor<4xf32, #rows>) {
  %m = dist.mask %x dim 0 value 0.0 : tensor<4xf32, #rows>
  // expected-error @+1 {{reduces dimension 0 of operand 0, 7 split over [d0]: not all parts are full, and what lies behind is unspecified. dist.mask it with -INF first}}
  %s = nn.reduce max %m [0] : tensor<4xf32, #rows> -> tensor<f32, #dist.local<#mesh, scalar, max [d0]>>
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>
#rows = #dist.local<#mesh, 7, [d0]>
func.func @right(%x: tensor<4xf32, #rows>) -> (tensor<f32, #dist.local<#mesh, scalar, sum [d0]>>, tensor<f32, #dist.local<#mesh, scalar, max [d0]>>) {
  %zero = dist.mask %x dim 0 value 0.0 : tensor<4xf32, #rows>
  %s = nn.reduce sum %zero [0] : tensor<4xf32, #rows> -> tensor<f32, #dist.local<#mesh, scalar, sum [d0]>>
  %least = dist.mask %x dim 0 value 0xFFF0000000000000 : tensor<4xf32, #rows>
  %m = nn.reduce max %least [0] : tensor<4xf32, #rows> -> tensor<f32, #dist.local<#mesh, scalar, max [d0]>>
  return %s, %m : tensor<f32, #dist.local<#mesh, scalar, sum [d0]>>, tensor<f32, #dist.local<#mesh, scalar, max [d0]>>
}
