// Caches come first in the memory of a step's values. A program that names one has its own values behind them and updates
// them in place; one that names none has its values there.
// RUN: weft-opt %s --weft-schedule --weft-fuse --weft-memory | FileCheck %s

// CHECK:      sched.base "step" step slots(1) bytes(384)
// CHECK-NOT:  nn.cache {{.*}}parameters
// CHECK:      nn.cache @keys : tensor<4x16xf32> {sched.place = #sched.place<"step", 0>}
// CHECK:      sched.program "decode"
// CHECK:      sched.slot "output/0" output : tensor<16xf32> {place = #sched.place<"step", 256>}
// CHECK:      %[[OLD:.*]] = nn.read @keys
// CHECK:      %[[NEW:.*]] = sched.launch "update_slice"(%[[OLD]], {{.*}}) {places = [#sched.place<"step", 0>]
// CHECK:      nn.write @keys, %[[NEW]]
// CHECK-NOT:  sched.copy
// CHECK:      sched.program "other"
// CHECK:      sched.slot "output/0" output : tensor<96xf32> {place = #sched.place<"step", 0>}
nn.cache @keys : tensor<4x16xf32>
func.func @decode(%key: tensor<1x16xf32>, %position: tensor<i64>) -> tensor<16xf32> {
  %old = nn.read @keys : tensor<4x16xf32>
  %zero = nn.constant dense<0> : tensor<i64>
  %new = nn.update_slice %old, %key [0, 0](%position, %zero : tensor<i64>, tensor<i64>) : tensor<4x16xf32>, tensor<1x16xf32> -> tensor<4x16xf32>
  nn.write @keys, %new : tensor<4x16xf32>
  %sum = nn.reduce sum %new [0] : tensor<4x16xf32> -> tensor<16xf32>
  return %sum : tensor<16xf32>
}
func.func @other(%x: tensor<96xf32>) -> tensor<96xf32> {
  %y = nn.exp %x : tensor<96xf32>
  return %y : tensor<96xf32>
}
