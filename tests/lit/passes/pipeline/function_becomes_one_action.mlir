// A function becomes a program of one action; arguments and results are named by nn.name, else by their number.
// RUN: weft-opt %s --weft-schedule | FileCheck %s

// CHECK:      sched.program "generate" microbatches(1) {
// CHECK-NEXT: sched.slot "input/tokens" input : tensor<4xi32>
// CHECK-NEXT: sched.slot "input/1" input : tensor<i64>
// CHECK-NEXT: sched.slot "output/0" output : tensor<4xf32>
// CHECK-NEXT: sched.action "run" {
// CHECK:      %[[T:.*]] = sched.load "input/tokens" : tensor<4xi32>
// CHECK-NEXT: %[[Y:.*]] = nn.cast %[[T]]
// CHECK-NEXT: sched.store "output/0", %[[Y]]
// CHECK:      sched.run "run"
func.func @generate(%tokens: tensor<4xi32> {nn.name = "tokens"}, %step: tensor<i64>) -> tensor<4xf32> {
  %y = nn.cast %tokens : tensor<4xi32> -> tensor<4xf32>
  return %y : tensor<4xf32>
}
