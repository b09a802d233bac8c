// A result lies where an operand lay that dies with the launch, if the kernel allows it; a product may not.
// RUN: weft-opt %s --weft-schedule --weft-fuse --weft-memory | FileCheck %s

// The product's result and what it reads live together: two buffers of 256 bytes, no third for the chain behind it, nor for
// what it leaves.
// CHECK:      sched.base "step" step slots(1) bytes(512)
// CHECK:      sched.launch "transpose"({{.*}}places = [#sched.place<"step", [[FIRST:.*]]>]
// CHECK-NEXT: sched.launch "einsum"({{.*}}places = [#sched.place<"step", [[SECOND:.*]]>]
// CHECK-NEXT: sched.launch "elementwise"({{.*}}places = [#sched.place<"step", [[SECOND]]>]
// CHECK-NEXT: sched.launch "reduce"
func.func @f(%x: tensor<8x8xf32>) -> tensor<f32> {
  %t = nn.transpose %x [1, 0] : tensor<8x8xf32> -> tensor<8x8xf32>
  %y = nn.einsum "ab,bc->ac" (%t, %x) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %z = nn.exp %y : tensor<8x8xf32>
  %s = nn.reduce sum %z [0, 1] : tensor<8x8xf32> -> tensor<f32>
  return %s : tensor<f32>
}
