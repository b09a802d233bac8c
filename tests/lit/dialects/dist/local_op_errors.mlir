// What ops that do not communicate refuse: dist.slice, dist.keep_first and dist.mask know what each rank holds already.
// RUN: weft-opt %s --split-input-file --verify-diagnostics

#mesh = #dist.mesh<d0 = 2, t0 = 2, t1 = 3>
func.func @f(%x: tensor<6x8xf32, #dist.local<#mesh, 12x8, [d0], []>>) {
  // expected-error @+1 {{'dist.slice' op expects a value that is replicated over [d0], its placement is [d0] []}}
  %y = dist.slice %x over ["d0"] dim 0 : tensor<6x8xf32, #dist.local<#mesh, 12x8, [d0], []>> -> tensor<6x8xf32, #dist.local<#mesh, 12x8, [d0], []>>
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2, t1 = 3>
func.func @f(%x: tensor<12x8xf32, #dist.local<#mesh, 12x8, [], [], sum [d0]>>) {
  // expected-error @+1 {{'dist.slice' op expects a value that is replicated over [d0], its placement is [] [] sum [d0]}}
  %y = dist.slice %x over ["d0"] dim 0 : tensor<12x8xf32, #dist.local<#mesh, 12x8, [], [], sum [d0]>> -> tensor<6x8xf32, #dist.local<#mesh, 12x8, [d0], []>>
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2, t1 = 3>
func.func @f(%x: tensor<12x8xf32, #dist.local<#mesh, 12x8, [], []>>) {
  // expected-error @+1 {{'dist.slice' op expects a dimension below the rank (2), got 2}}
  %y = dist.slice %x over ["d0"] dim 2 : tensor<12x8xf32, #dist.local<#mesh, 12x8, [], []>> -> tensor<6x8xf32, #dist.local<#mesh, 12x8, [d0], []>>
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2, t1 = 3>
func.func @f(%x: tensor<12x8xf32, #dist.local<#mesh, 12x8, [], []>>) {
  // expected-error @+1 {{'dist.slice' op gives 'tensor<12x4xf32>', the part of 12x8 at [] [d0]; its type says 'tensor<6x8xf32>', the part of 12x8 at [d0] []}}
  %y = dist.slice %x over ["d0"] dim 1 : tensor<12x8xf32, #dist.local<#mesh, 12x8, [], []>> -> tensor<6x8xf32, #dist.local<#mesh, 12x8, [d0], []>>
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2, t1 = 3>
func.func @f(%x: tensor<10xf32, #dist.local<#mesh, 10, []>>) {
  // expected-error @+1 {{'dist.slice' op goes over [d0, t0] at once, which does not divide dimension 0 (10) evenly: one axis after another}}
  %y = dist.slice %x over ["d0", "t0"] dim 0 : tensor<10xf32, #dist.local<#mesh, 10, []>> -> tensor<3xf32, #dist.local<#mesh, 10, [d0, t0]>>
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2, t1 = 3>
func.func @f(%x: tensor<12x8xf32, #dist.at<#mesh, [], []>>) {
  // expected-error @+1 {{'dist.slice' op expects the part of a rank (#dist.local), got 'tensor<12x8xf32>' at [] []; in the global view dist.reshard changes placements}}
  %y = dist.slice %x over ["d0"] dim 0 : tensor<12x8xf32, #dist.at<#mesh, [], []>> -> tensor<12x8xf32, #dist.at<#mesh, [d0], []>>
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2, t1 = 3>
func.func @f(%x: tensor<6x8xf32, #dist.local<#mesh, 12x8, [d0], []>>) {
  // expected-error @+1 {{'dist.keep_first' op expects a value that is replicated over [d0], its placement is [d0] []}}
  %y = dist.keep_first %x over ["d0"] : tensor<6x8xf32, #dist.local<#mesh, 12x8, [d0], []>> -> tensor<12x8xf32, #dist.local<#mesh, 12x8, [], [], sum [d0]>>
  return
}

// -----

// What one rank alone kept is not kept by one rank once more.
#mesh = #dist.mesh<d0 = 2, t0 = 2, t1 = 3>
func.func @f(%x: tensor<12x8xf32, #dist.local<#mesh, 12x8, [], [], sum [d0]>>) {
  // expected-error @+1 {{'dist.keep_first' op expects a value that is replicated over [d0], its placement is [] [] sum [d0]}}
  %y = dist.keep_first %x over ["d0"] : tensor<12x8xf32, #dist.local<#mesh, 12x8, [], [], sum [d0]>> -> tensor<12x8xf32, #dist.local<#mesh, 12x8, [], [], sum [d0]>>
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2, t1 = 3>
func.func @f(%x: tensor<12x8xf32, #dist.local<#mesh, 12x8, [], []>>) {
  // expected-error @+1 {{'dist.keep_first' op gives 'tensor<12x8xf32>', the part of 12x8 at [] [] sum [t0]; its type says 'tensor<12x8xf32>', the part of 12x8 at [] [] sum [d0]}}
  %y = dist.keep_first %x over ["t0"] : tensor<12x8xf32, #dist.local<#mesh, 12x8, [], []>> -> tensor<12x8xf32, #dist.local<#mesh, 12x8, [], [], sum [d0]>>
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2, t1 = 3>
func.func @f(%x: tensor<12x8xf32, #dist.at<#mesh, [d0], []>>) {
  // expected-error @+1 {{'dist.mask' op expects the part of a rank (#dist.local), got 'tensor<12x8xf32>' at [d0] []}}
  %y = dist.mask %x dim 0 value 0.0 : tensor<12x8xf32, #dist.at<#mesh, [d0], []>>
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2, t1 = 3>
func.func @f(%x: tensor<6x8xf32, #dist.local<#mesh, 12x8, [d0], []>>) {
  // expected-error @+1 {{'dist.mask' op expects a dimension below the rank (2), got 4}}
  %y = dist.mask %x dim 4 value 0.0 : tensor<6x8xf32, #dist.local<#mesh, 12x8, [d0], []>>
  return
}

// -----

#mesh = #dist.mesh<d0 = 2, t0 = 2, t1 = 3>
func.func @f(%x: tensor<6x8xf32, #dist.local<#mesh, 12x8, [d0], []>>) {
  // expected-error @+1 {{'dist.mask' op expects a dimension that is split, dimension 1 is whole}}
  %y = dist.mask %x dim 1 value 0.0 : tensor<6x8xf32, #dist.local<#mesh, 12x8, [d0], []>>
  return
}
