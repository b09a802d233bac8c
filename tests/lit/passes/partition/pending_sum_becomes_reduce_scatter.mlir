// RUN: weft-opt %s --weft-partition | FileCheck %s
// A value pending over the axis that its consumer wants along the sequence: one reduce-scatter, no all-reduce.
// CHECK-LABEL: func.func @sequence_parallel_output
// CHECK-NOT:   all_reduce
// CHECK:       %[[T:.*]] = dist.reduce_scatter.start sum %arg0 over ["t0"] dim 1 : tensor<4x6x8xf32, #dist.local<#mesh, 4x6x8, [], [], [], sum [t0]>> -> <tensor<4x3x8xf32, #dist.local<#mesh, 4x6x8, [], [t0], []>>>
// CHECK-NEXT:  %[[Y:.*]] = dist.wait %[[T]]
// CHECK-NEXT:  return %[[Y]]
#mesh = #dist.mesh<d0 = 2, t0 = 2>
func.func @sequence_parallel_output(%x: tensor<4x6x8xf32, #dist.at<#mesh, [], [], [], sum [t0]>>) -> tensor<4x6x8xf32, #dist.at<#mesh, [], [t0], []>> {
  %y = dist.reshard %x : tensor<4x6x8xf32, #dist.at<#mesh, [], [], [], sum [t0]>> -> tensor<4x6x8xf32, #dist.at<#mesh, [], [t0], []>>
  return %y : tensor<4x6x8xf32, #dist.at<#mesh, [], [t0], []>>
}
