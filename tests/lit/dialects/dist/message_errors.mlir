// RUN: weft-opt %s -split-input-file -verify-diagnostics

#mesh = #dist.mesh<p0 = 2, t0 = 2 : pipeline = [p0], tensor = [t0]>
#part = #dist.local<#mesh, 4, [t0]>
func.func @no_such_rank(%x: tensor<2xf32, #part>) {
  // expected-error @+1 {{'dist.send' op expects a rank of the pipeline below 2, got 2}}
  dist.send %x to 2 over ["p0"] : tensor<2xf32, #part>
  return
}

// -----

#mesh = #dist.mesh<p0 = 2, t0 = 2 : pipeline = [p0], tensor = [t0]>
#part = #dist.local<#mesh, 4, [t0]>
func.func @along_another_axis() -> tensor<2xf32, #part> {
  // expected-error @+1 {{'dist.receive' op expects the axes of the role pipeline, [p0], got ["t0"]}}
  %x = dist.receive from 0 over ["t0"] : tensor<2xf32, #part>
  return %x : tensor<2xf32, #part>
}

// -----

#mesh = #dist.mesh<p0 = 2 : pipeline = [p0]>
#pending = #dist.local<#mesh, 4, [], sum [p0]>
func.func @pending(%x: tensor<4xf32, #pending>) {
  // expected-error @+1 {{'dist.send' op expects a value that says nothing of [p0], its placement is [] sum [p0]}}
  dist.send %x to 1 over ["p0"] : tensor<4xf32, #pending>
  return
}

// -----

#mesh = #dist.mesh<p0 = 2 : pipeline = [p0]>
func.func @global_view(%x: tensor<4xf32, #dist.at<#mesh, []>>) {
  // expected-error @+1 {{'dist.send' op expects the part of a rank (#dist.local), got 'tensor<4xf32>' at []}}
  dist.send %x to 1 over ["p0"] : tensor<4xf32, #dist.at<#mesh, []>>
  return
}

// -----

func.func @twice() {
  // expected-error @+1 {{'dist.send_wait' op names the axis "p0" twice}}
  dist.send_wait to 1 over ["p0", "p0"]
  return
}

// -----

func.func @nowhere() {
  // expected-error @+1 {{'dist.receive_wait' op expects at least one axis}}
  dist.receive_wait from 1 over []
  return
}

// -----

// An identity that says nothing: the sum over the pipeline would be lost.
#mesh = #dist.mesh<p0 = 2 : pipeline = [p0]>
#whole = #dist.local<#mesh, 4, []>
func.func @no_term(%x: tensor<4xf32, #whole>) -> tensor<4xf32, #whole> {
  // expected-error @+1 {{'dist.term' op gives 'tensor<4xf32>', the part of 4 at [] sum [p0]; its type says 'tensor<4xf32>', the part of 4 at []}}
  %y = dist.term %x over ["p0"] : tensor<4xf32, #whole> -> tensor<4xf32, #whole>
  return %y : tensor<4xf32, #whole>
}
