// RUN: weft-opt %s | weft-opt | FileCheck %s
// What ranks of a pipeline tell each other: a message begins, and is waited for.

#mesh = #dist.mesh<p0 = 2, t0 = 2 : pipeline = [p0], tensor = [t0]>
#part = #dist.local<#mesh, 4x8, [], [t0]>
module attributes {dist.mesh = #mesh} {

// CHECK-LABEL: func @first_stage
func.func @first_stage(%x: tensor<4x4xf32, #part>) {
  // CHECK: dist.send %{{.*}} to 1 over ["p0"] : tensor<4x4xf32, #dist.local<#mesh, 4x8, [], [t0]>>
  dist.send %x to 1 over ["p0"] : tensor<4x4xf32, #part>
  // CHECK: dist.send_wait to 1 over ["p0"]
  dist.send_wait to 1 over ["p0"]
  return
}

// CHECK-LABEL: func @second_stage
func.func @second_stage() -> tensor<4x4xf32, #part> {
  // CHECK: %[[X:.*]] = dist.receive from 0 over ["p0"] : tensor<4x4xf32, #dist.local<#mesh, 4x8, [], [t0]>>
  %x = dist.receive from 0 over ["p0"] : tensor<4x4xf32, #part>
  // CHECK: dist.receive_wait from 0 over ["p0"]
  dist.receive_wait from 0 over ["p0"]
  return %x : tensor<4x4xf32, #part>
}

// What a rank computes from its own stages is its term of a sum.
// CHECK-LABEL: func @norm
func.func @norm(%x: tensor<f64, #dist.local<#mesh, >>) -> tensor<f64, #dist.local<#mesh, >> {
  // CHECK: dist.term %{{.*}} over ["p0"] : tensor<f64, {{.*}}> -> tensor<f64, {{.*}}sum [p0]>>
  %y = dist.term %x over ["p0"] : tensor<f64, #dist.local<#mesh, >> -> tensor<f64, #dist.local<#mesh, , sum [p0]>>
  %t = dist.all_reduce.start sum %y over ["p0"]
    : tensor<f64, #dist.local<#mesh, , sum [p0]>> -> !dist.token<tensor<f64, #dist.local<#mesh, >>>
  %z = dist.wait %t : !dist.token<tensor<f64, #dist.local<#mesh, >>>
  return %z : tensor<f64, #dist.local<#mesh, >>
}
}
