// RUN: weft-opt %s --weft-seed-placements=context=all_to_all --split-input-file --verify-diagnostics
// Heads that ranks cannot share, said before anything is placed.

#mesh = #dist.mesh<c0 = 2 : context = [c0]>
module attributes {dist.mesh = #mesh} {
  func.func @a_group_and_a_half(%q: tensor<2x8x6x4xf32>, %k: tensor<2x8x3x4xf32>) -> tensor<2x8x6x4xf32> {
    // expected-error @+1 {{'nn.attention' op has 6 heads in 3 groups, split over []: no whole number of groups, or of heads of one group, is left for [c0]. Keys and values can be gathered instead: context=gather}}
    %o, %lse = nn.attention %q, %k, %k {scale = 0.5} : (tensor<2x8x6x4xf32>, tensor<2x8x3x4xf32>, tensor<2x8x3x4xf32>) -> (tensor<2x8x6x4xf32>, tensor<2x6x8xf32>)
    return %o : tensor<2x8x6x4xf32>
  }
}

// -----

#mesh = #dist.mesh<c0 = 2, t0 = 2 : context = [c0], tensor = [t0]>
module attributes {dist.mesh = #mesh} {
  func.func @no_head_is_left(%q: tensor<2x8x2x4xf32>, %k: tensor<2x8x2x4xf32>) -> tensor<2x8x2x4xf32> {
    // expected-error @+1 {{'nn.attention' op has 2 heads in 2 groups, split over [t0]: no whole number of groups, or of heads of one group, is left for [c0]. Keys and values can be gathered instead: context=gather}}
    %o, %lse = nn.attention %q, %k, %k {scale = 0.5} : (tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>) -> (tensor<2x8x2x4xf32>, tensor<2x2x8xf32>)
    return %o : tensor<2x8x2x4xf32>
  }
}
