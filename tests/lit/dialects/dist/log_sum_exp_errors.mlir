// A pending log-sum-exp is of floats, nothing becomes one, and nothing reads one; each mistake with its correction.
// RUN: weft-opt %s --split-input-file --verify-diagnostics
#mesh = #dist.mesh<t0 = 2>

func.func @replicated_becomes_no_logarithm(%x: tensor<4xf32, #dist.at<#mesh, []>>) {
  // expected-error @+1 {{'dist.reshard' op cannot make a pending log-sum-exp over [t0]}}
  %0 = dist.reshard %x : tensor<4xf32, #dist.at<#mesh, []>> -> tensor<4xf32, #dist.at<#mesh, [], lse [t0]>>
  return
}

// -----
#mesh = #dist.mesh<t0 = 2>

func.func @integers_have_none(%x: tensor<4xi32, #dist.at<#mesh, [], lse [t0]>>) {
  // expected-error @+1 {{'dist.reshard' op takes a log-sum-exp of 'i32'; only floats have one}}
  %0 = dist.reshard %x : tensor<4xi32, #dist.at<#mesh, [], lse [t0]>> -> tensor<4xi32, #dist.at<#mesh, []>>
  return
}

// -----
#mesh = #dist.mesh<t0 = 2>

func.func @a_sum_is_no_logarithm(%x: tensor<4xf32, #dist.local<#mesh, 4, [], sum [t0]>>) {
  // expected-error @+1 {{'dist.all_reduce.start' op expects a pending lse over [t0], its placement is [] sum [t0]}}
  %0 = dist.all_reduce.start lse %x over ["t0"] : tensor<4xf32, #dist.local<#mesh, 4, [], sum [t0]>> -> !dist.token<tensor<4xf32, #dist.local<#mesh, 4, []>>>
  return
}

// -----
#mesh = #dist.mesh<t0 = 2>

func.func @read_before_its_reduction(%x: tensor<4xf32, #dist.at<#mesh, [], lse [t0]>>) {
  // expected-error @+1 {{'nn.negate' op takes operand 0, whose log-sum-exp over [t0] is pending: [] lse [t0]. Nothing passes one: reshard operand 0 first}}
  %0 = nn.negate %x : tensor<4xf32, #dist.at<#mesh, [], lse [t0]>>
  return
}

// -----
#mesh = #dist.mesh<t0 = 2>

func.func @read_after_its_reduction(%x: tensor<4xf32, #dist.at<#mesh, [], lse [t0]>>) {
  %0 = dist.reshard %x : tensor<4xf32, #dist.at<#mesh, [], lse [t0]>> -> tensor<4xf32, #dist.at<#mesh, []>>
  %1 = nn.negate %0 : tensor<4xf32, #dist.at<#mesh, []>>
  return
}

// -----
#mesh = #dist.mesh<t0 = 2>
#whole = #dist.at<#mesh, []>

func.func @statistics_of_a_part_are_not_whole(%x: tensor<4x8xf32, #dist.at<#mesh, [], []>>, %w: tensor<10x8xf32, #dist.at<#mesh, [t0], []>>, %t: tensor<4xi32, #whole>) {
  // expected-error @+1 {{'nn.linear_cross_entropy_statistics' op gives result 0, whose log-sum-exp over [t0] is pending, its type says [] instead of [] lse [t0]. dist.reshard takes it}}
  %0, %1, %2 = nn.linear_cross_entropy_statistics %x, %w, %t
    : (tensor<4x8xf32, #dist.at<#mesh, [], []>>, tensor<10x8xf32, #dist.at<#mesh, [t0], []>>, tensor<4xi32, #whole>)
    -> (tensor<4xf32, #whole>, tensor<4xf32, #dist.at<#mesh, [], sum [t0]>>, tensor<4xf32, #dist.at<#mesh, [], sum [t0]>>)
  return
}

// -----
#mesh = #dist.mesh<t0 = 2>

func.func @statistics_of_a_part(%x: tensor<4x8xf32, #dist.at<#mesh, [], []>>, %w: tensor<10x8xf32, #dist.at<#mesh, [t0], []>>, %t: tensor<4xi32, #dist.at<#mesh, []>>) {
  %0, %1, %2 = nn.linear_cross_entropy_statistics %x, %w, %t
    : (tensor<4x8xf32, #dist.at<#mesh, [], []>>, tensor<10x8xf32, #dist.at<#mesh, [t0], []>>, tensor<4xi32, #dist.at<#mesh, []>>)
    -> (tensor<4xf32, #dist.at<#mesh, [], lse [t0]>>, tensor<4xf32, #dist.at<#mesh, [], sum [t0]>>, tensor<4xf32, #dist.at<#mesh, [], sum [t0]>>)
  return
}

// -----
#mesh = #dist.mesh<t0 = 2>
#whole = #dist.at<#mesh, []>

func.func @the_whole_head_keeps_its_vocabulary(%x: tensor<4x8xf32, #dist.at<#mesh, [], []>>, %w: tensor<10x8xf32, #dist.at<#mesh, [t0], []>>, %t: tensor<4xi32, #whole>) {
  // expected-error @+1 {{'nn.linear_cross_entropy' op needs dimension 0 of operand 1 whole, it is split over [t0]. Reshard it first, or split another dimension}}
  %0, %1, %2 = nn.linear_cross_entropy %x, %w, %t
    : (tensor<4x8xf32, #dist.at<#mesh, [], []>>, tensor<10x8xf32, #dist.at<#mesh, [t0], []>>, tensor<4xi32, #whole>)
    -> (tensor<4xf32, #whole>, tensor<4xf32, #whole>, tensor<4xf32, #whole>)
  return
}

// -----
#mesh = #dist.mesh<d0 = 2, t0 = 2>

func.func @zeros_are_not_neutral(%x: tensor<4xf32, #dist.local<#mesh, 4, [], lse [t0]>>) {
  // expected-error @+1 {{'dist.keep_first' op gives zeros, which count in the log-sum-exp that is pending: [] lse [t0]}}
  %0 = dist.keep_first %x over ["d0"] : tensor<4xf32, #dist.local<#mesh, 4, [], lse [t0]>> -> tensor<4xf32, #dist.local<#mesh, 4, [], sum [d0], lse [t0]>>
  return
}

// -----
#mesh = #dist.mesh<d0 = 2, t0 = 2>

func.func @no_sum_beside_a_logarithm(%x: tensor<4xf32, #dist.at<#mesh, [], lse [t0]>>) {
  // expected-error @+1 {{'dist.reshard' op cannot make a pending sum over [d0] of a value whose log-sum-exp over [t0] stays pending: zeros would count in it}}
  %0 = dist.reshard %x : tensor<4xf32, #dist.at<#mesh, [], lse [t0]>> -> tensor<4xf32, #dist.at<#mesh, [], sum [d0], lse [t0]>>
  return
}
