// A part is what nested ceiling division leaves, axis by axis from the major one: ten rows over four ranks are 3, 3, 3 and
// 1 when one axis of four cuts them, but 3, 2, 3 and 2 when two axes of two do, since each half is cut by itself.
// Every rank's tensor has the largest size; what lies behind a rank's own rows is unspecified.
// RUN: weft-opt %s --split-input-file --verify-diagnostics

#mesh = #dist.mesh<a = 2, b = 2, c = 3, q = 4>
func.func @parts(%one: tensor<3xf32, #dist.local<#mesh, 10, [q]>>,
                 %two: tensor<3xf32, #dist.local<#mesh, 10, [a, b]>>,
                 // 7 -> 4 -> 2: not ceil(7 / 6) = 2 by chance, and 13 -> 7 -> 3 is not ceil(13 / 6) = 3 either
                 %three: tensor<2xf32, #dist.local<#mesh, 7, [a, c]>>,
                 // 9 -> 5 -> 3 -> 1
                 %four: tensor<1xf32, #dist.local<#mesh, 9, [a, b, c]>>,
                 // Ranks may have nothing at all: two of one row's four parts hold none.
                 %less: tensor<1xf32, #dist.local<#mesh, 1, [q]>>,
                 %scalar: tensor<f32, #dist.local<#mesh, scalar>>,
                 %empty: tensor<0x4xf32, #dist.local<#mesh, 0x8, [a], [b]>>) {
  return
}

// -----

// The order of the axes decides who holds what, not the size of a part here: 5 -> 3 -> 1 and 5 -> 2 -> 1.
#mesh = #dist.mesh<a = 2, c = 3>
func.func @order(%x: tensor<1xf32, #dist.local<#mesh, 5, [a, c]>>, %y: tensor<1xf32, #dist.local<#mesh, 5, [c, a]>>) {
  return
}

// -----

#mesh = #dist.mesh<a = 2, b = 2>
// expected-error @+1 {{expects the part of a rank, 3, of the whole 10 at [a, b]}}
func.func @floor(%x: tensor<2xf32, #dist.local<#mesh, 10, [a, b]>>) { return }

// -----

// A gather over the minor axis drops its padded tail: a half of ten rows is five, not six.
#mesh = #dist.mesh<a = 2, b = 2>
func.func @tail(%x: tensor<3xf32, #dist.local<#mesh, 10, [a, b]>>) -> tensor<10xf32, #dist.local<#mesh, 10, []>> {
  %0 = dist.all_gather.start %x over ["b"] dim 0 : tensor<3xf32, #dist.local<#mesh, 10, [a, b]>> -> !dist.token<tensor<5xf32, #dist.local<#mesh, 10, [a]>>>
  %1 = dist.wait %0 : !dist.token<tensor<5xf32, #dist.local<#mesh, 10, [a]>>>
  %2 = dist.all_gather.start %1 over ["a"] dim 0 : tensor<5xf32, #dist.local<#mesh, 10, [a]>> -> !dist.token<tensor<10xf32, #dist.local<#mesh, 10, []>>>
  %3 = dist.wait %2 : !dist.token<tensor<10xf32, #dist.local<#mesh, 10, []>>>
  return %3 : tensor<10xf32, #dist.local<#mesh, 10, []>>
}
