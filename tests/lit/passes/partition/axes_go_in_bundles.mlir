// RUN: weft-opt %s --weft-partition | FileCheck %s
// 512 data ranks are nine axes, 8 tensor ranks three. Axes that are side by side before and after go as one: the same
// steps as on a small mesh, in one collective over all of them.
#mesh = #dist.mesh<d0 = 2, d1 = 2, d2 = 2, d3 = 2, d4 = 2, d5 = 2, d6 = 2, d7 = 2, d8 = 2, t0 = 2, t1 = 2, t2 = 2>
// A gradient to its part in ZeRO-2 and 3.
// CHECK-LABEL: func.func @gradient
func.func @gradient(%x: tensor<8192x1024xf32, #dist.at<#mesh, [t0, t1, t2], [], sum [d0, d1, d2, d3, d4, d5, d6, d7, d8]>>) -> tensor<8192x1024xf32, #dist.at<#mesh, [t0, t1, t2, d0, d1, d2, d3, d4, d5, d6, d7, d8], []>> {
  // CHECK-NEXT: dist.reduce_scatter.start sum %arg0 over ["d0", "d1", "d2", "d3", "d4", "d5", "d6", "d7", "d8"] dim 0
  // CHECK-NEXT: dist.wait
  // CHECK-NEXT: return
  %y = dist.reshard %x : tensor<8192x1024xf32, #dist.at<#mesh, [t0, t1, t2], [], sum [d0, d1, d2, d3, d4, d5, d6, d7, d8]>> -> tensor<8192x1024xf32, #dist.at<#mesh, [t0, t1, t2, d0, d1, d2, d3, d4, d5, d6, d7, d8], []>>
  return %y : tensor<8192x1024xf32, #dist.at<#mesh, [t0, t1, t2, d0, d1, d2, d3, d4, d5, d6, d7, d8], []>>
}
// A parameter that divides by none of it: each axis drops its own padding, the minor one first.
// CHECK-LABEL: func.func @uneven
func.func @uneven(%x: tensor<100xf32, #dist.at<#mesh, [d0, d1, d2, d3]>>) -> tensor<100xf32, #dist.at<#mesh, []>> {
  // CHECK:      dist.all_gather.start %arg0 over ["d3"] dim 0 : tensor<7xf32, {{.*}} -> <tensor<13xf32
  // CHECK:      dist.all_gather.start %{{.*}} over ["d2"] dim 0 : tensor<13xf32, {{.*}} -> <tensor<25xf32
  // CHECK:      dist.all_gather.start %{{.*}} over ["d0", "d1"] dim 0 : tensor<25xf32, {{.*}} -> <tensor<100xf32
  %y = dist.reshard %x : tensor<100xf32, #dist.at<#mesh, [d0, d1, d2, d3]>> -> tensor<100xf32, #dist.at<#mesh, []>>
  return %y : tensor<100xf32, #dist.at<#mesh, []>>
}
// From the sequence to the heads: one all-to-all.
// CHECK-LABEL: func.func @move
func.func @move(%x: tensor<512x8192x64xf32, #dist.at<#mesh, [d0, d1], [t0, t1, t2], []>>) -> tensor<512x8192x64xf32, #dist.at<#mesh, [d0, d1], [], [t0, t1, t2]>> {
  // CHECK-NEXT: dist.all_to_all.start %arg0 over ["t0", "t1", "t2"] from 1 to 2
  // CHECK-NEXT: dist.wait
  // CHECK-NEXT: return
  %y = dist.reshard %x : tensor<512x8192x64xf32, #dist.at<#mesh, [d0, d1], [t0, t1, t2], []>> -> tensor<512x8192x64xf32, #dist.at<#mesh, [d0, d1], [], [t0, t1, t2]>>
  return %y : tensor<512x8192x64xf32, #dist.at<#mesh, [d0, d1], [], [t0, t1, t2]>>
}
// Twelve axes of which no two stay side by side: every axis goes where it must, and the search is over at once.
// CHECK-LABEL: func.func @shuffled
func.func @shuffled(%x: tensor<4096x4096xf32, #dist.at<#mesh, [d0, d1, d2, d3, d4, d5], [t0, d6, t1, d7, t2, d8]>>) -> tensor<4096x4096xf32, #dist.at<#mesh, [t2, t0, d8, t1, d6, d7], [d5, d3, d1, d4, d2, d0]>> {
  // CHECK: dist.all_to_all.start
  // CHECK: return
  %y = dist.reshard %x : tensor<4096x4096xf32, #dist.at<#mesh, [d0, d1, d2, d3, d4, d5], [t0, d6, t1, d7, t2, d8]>> -> tensor<4096x4096xf32, #dist.at<#mesh, [t2, t0, d8, t1, d6, d7], [d5, d3, d1, d4, d2, d0]>>
  return %y : tensor<4096x4096xf32, #dist.at<#mesh, [t2, t0, d8, t1, d6, d7], [d5, d3, d1, d4, d2, d0]>>
}
// Sums over axes whose order no split shares.
// CHECK-LABEL: func.func @scattered
func.func @scattered(%x: tensor<4096x64xf32, #dist.at<#mesh, [t0], [], sum [d0, d1, d2, d3, d4, d5, d6, d7, d8]>>) -> tensor<4096x64xf32, #dist.at<#mesh, [d8, d2, d5, t0], [d7, d0]>> {
  // CHECK: dist.reduce_scatter.start
  // CHECK: dist.all_reduce.start
  // CHECK: return
  %y = dist.reshard %x : tensor<4096x64xf32, #dist.at<#mesh, [t0], [], sum [d0, d1, d2, d3, d4, d5, d6, d7, d8]>> -> tensor<4096x64xf32, #dist.at<#mesh, [d8, d2, d5, t0], [d7, d0]>>
  return %y : tensor<4096x64xf32, #dist.at<#mesh, [d8, d2, d5, t0], [d7, d0]>>
}
