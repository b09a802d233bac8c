// What is stored in two slots, or was loaded, is stored as a copy: every slot has its own bytes. Equal constants share theirs.
// RUN: weft-opt %s --weft-schedule --weft-fuse --weft-memory | FileCheck %s

// CHECK:      sched.base "constants" constants slots(1) bytes(64)
// CHECK:      sched.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32> {place = #sched.place<"constants", 0>}
// CHECK:      sched.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32> {place = #sched.place<"constants", 0>}
// CHECK:      %[[Y:.*]] = sched.launch "elementwise"({{.*}}places = [#sched.place<"step", 0>]
// CHECK-NEXT: sched.store "output/0", %[[Y]]
// CHECK-NEXT: sched.launch "copy"(%[[Y]]) {places = [#sched.place<"step", 64>]
// CHECK-NEXT: sched.store "output/1"
// CHECK-NEXT: sched.launch "copy"(%{{.*}}) {places = [#sched.place<"step", 128>]
// CHECK-NEXT: sched.store "output/2"
// CHECK-NOT:  sched.copy
func.func @f(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %a = nn.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %b = nn.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %s = nn.add %x, %a : tensor<2xf32>
  %y = nn.multiply %s, %b : tensor<2xf32>
  return %y, %y, %x : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}
