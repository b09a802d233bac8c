// Meshes, placements in both views and every op print as they are written, and read back from text, from the
// generic form and from bytecode.
// RUN: weft-opt %s | weft-opt | FileCheck %s
// RUN: weft-opt --mlir-print-op-generic %s | weft-opt | FileCheck %s
// RUN: weft-opt --emit-bytecode %s | weft-opt | FileCheck %s

// Types name their mesh by an alias; roles are printed in the order of their names.
// CHECK: #mesh = #dist.mesh<d0 = 2, t0 = 2, t1 = 3 : data = [d0], tensor = [t0, t1]>
#mesh = #dist.mesh<d0 = 2, t0 = 2, t1 = 3 : tensor = [t0, t1], data = [d0]>

// CHECK-LABEL: func.func @global
// CHECK-SAME: tensor<12x8xf32, #dist.at<#mesh, [d0, t1], [t0]>>
// CHECK-SAME: tensor<12x8xf32, #dist.at<#mesh, zigzag [t1], [], sum [d0], max [t0]>>
// CHECK-SAME: tensor<f64, #dist.at<#mesh, sum [d0, t0]>>
// CHECK-SAME: tensor<i64, #dist.at<#mesh>>
func.func @global(%a: tensor<12x8xf32, #dist.at<#mesh, [d0, t1], [t0]>>,
                  %b: tensor<12x8xf32, #dist.at<#mesh, zigzag [t1], [], max [t0], sum [d0]>>,
                  %c: tensor<f64, #dist.at<#mesh, sum [t0, d0]>>, %d: tensor<i64, #dist.at<#mesh>>) {
  // CHECK: dist.reshard %{{.*}} : tensor<12x8xf32, #dist.at<#mesh, [d0, t1], [t0]>> -> tensor<12x8xf32, #dist.at<#mesh, [], [t1, d0]>>
  %0 = dist.reshard %a : tensor<12x8xf32, #dist.at<#mesh, [d0, t1], [t0]>> -> tensor<12x8xf32, #dist.at<#mesh, [], [t1, d0]>>
  return
}

#rows = #dist.local<#mesh, 12x8, [d0], []>
#columns = #dist.local<#mesh, 12x8, [], [d0]>
#all = #dist.local<#mesh, 12x8, [], []>
#terms = #dist.local<#mesh, 12x8, [], [], sum [d0]>
#largest = #dist.local<#mesh, 12x8, [], [], max [d0]>
// CHECK-LABEL: func.func @local
// CHECK-SAME: tensor<f32, #dist.local<#mesh, scalar, sum [t1]>>
func.func @local(%rows: tensor<6x8xf32, #rows>, %all: tensor<12x8xf32, #all>, %terms: tensor<12x8xf32, #terms>,
                 %largest: tensor<12x8xf32, #largest>, %scalar: tensor<f32, #dist.local<#mesh, scalar, sum [t1]>>) {
  // CHECK: %[[T:.*]] = dist.all_gather.start %{{.*}} over ["d0"] dim 0 : tensor<6x8xf32, #dist.local<#mesh, 12x8, [d0], []>> -> <tensor<12x8xf32, #dist.local<#mesh, 12x8, [], []>>>
  %0 = dist.all_gather.start %rows over ["d0"] dim 0 : tensor<6x8xf32, #rows> -> !dist.token<tensor<12x8xf32, #all>>
  // CHECK: dist.wait %[[T]] : <tensor<12x8xf32, #dist.local<#mesh, 12x8, [], []>>>
  %1 = dist.wait %0 : !dist.token<tensor<12x8xf32, #all>>
  // CHECK: dist.all_reduce.start sum %{{.*}} over ["d0"]
  %2 = dist.all_reduce.start sum %terms over ["d0"] : tensor<12x8xf32, #terms> -> !dist.token<tensor<12x8xf32, #all>>
  %3 = dist.wait %2 : !dist.token<tensor<12x8xf32, #all>>
  // CHECK: dist.all_reduce.start max %{{.*}} over ["d0"]
  %4 = dist.all_reduce.start max %largest over ["d0"] : tensor<12x8xf32, #largest> -> !dist.token<tensor<12x8xf32, #all>>
  %5 = dist.wait %4 : !dist.token<tensor<12x8xf32, #all>>
  // CHECK: dist.reduce_scatter.start sum %{{.*}} over ["d0"] dim 1 : {{.*}} -> <tensor<12x4xf32
  %6 = dist.reduce_scatter.start sum %terms over ["d0"] dim 1 : tensor<12x8xf32, #terms> -> !dist.token<tensor<12x4xf32, #columns>>
  %7 = dist.wait %6 : !dist.token<tensor<12x4xf32, #columns>>
  // CHECK: dist.all_to_all.start %{{.*}} over ["d0"] from 0 to 1 : {{.*}} -> <tensor<12x4xf32
  %8 = dist.all_to_all.start %rows over ["d0"] from 0 to 1 : tensor<6x8xf32, #rows> -> !dist.token<tensor<12x4xf32, #columns>>
  %9 = dist.wait %8 : !dist.token<tensor<12x4xf32, #columns>>
  // CHECK: dist.slice %{{.*}} over ["d0"] dim 0 : {{.*}} -> tensor<6x8xf32
  %10 = dist.slice %all over ["d0"] dim 0 : tensor<12x8xf32, #all> -> tensor<6x8xf32, #rows>
  // CHECK: dist.keep_first %{{.*}} over ["d0"]
  %11 = dist.keep_first %all over ["d0"] : tensor<12x8xf32, #all> -> tensor<12x8xf32, #terms>
  // CHECK: dist.mask %{{.*}} dim 0 value 0.000000e+00 : tensor<6x8xf32
  %12 = dist.mask %rows dim 0 value 0.0 : tensor<6x8xf32, #rows>
  return
}
