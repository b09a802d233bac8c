// A step becomes slots, three actions and their order: what crosses regions is stored and loaded, carried values start at
// their combiner's neutral element and accumulate in ascending microbatch order, and writes stand with the stores.
// RUN: weft-opt %s --weft-schedule | FileCheck %s

nn.parameter @w : tensor<4xf32> constant

// CHECK:      sched.program "train" microbatches(2) {
// CHECK-NEXT: sched.slot "input/x" input : tensor<4xf32> {per_microbatch}
// CHECK-NEXT: sched.slot "input/rate" input : tensor<f32>
// CHECK-NEXT: sched.slot "prepared/0" prepared : tensor<2x4xf32>
// CHECK-NEXT: sched.slot "carried/sum" carried : tensor<f32>
// CHECK-NEXT: sched.slot "carried/largest" carried : tensor<f32>
// CHECK-NEXT: sched.slot "carried/smallest" carried : tensor<i32>
// CHECK-NEXT: sched.slot "carried/longest" carried : tensor<i32>
// CHECK-NEXT: sched.slot "output/loss" output : tensor<f32>

// CHECK:      sched.action "prepare" {
// CHECK-NEXT: %[[X0:.*]] = sched.load "input/x" microbatch 0 : tensor<4xf32>
// CHECK-NEXT: %[[R0:.*]] = nn.reshape %[[X0]] : tensor<4xf32> -> tensor<1x4xf32>
// CHECK-NEXT: %[[X1:.*]] = sched.load "input/x" microbatch 1 : tensor<4xf32>
// CHECK-NEXT: %[[R1:.*]] = nn.reshape %[[X1]]
// CHECK-NEXT: %[[ALL:.*]] = nn.concatenate 0(%[[R0]], %[[R1]])
// CHECK:      sched.store "prepared/0", %[[ALL]]
// CHECK-NEXT: %[[ZERO:.*]] = nn.constant dense<-0.000000e+00> : tensor<f32>
// CHECK-NEXT: sched.store "carried/sum", %[[ZERO]]
// CHECK-NEXT: %[[LOW:.*]] = nn.constant dense<0xFF800000> : tensor<f32>
// CHECK-NEXT: sched.store "carried/largest", %[[LOW]]
// CHECK-NEXT: %[[HIGH:.*]] = nn.constant dense<2147483647> : tensor<i32>
// CHECK-NEXT: sched.store "carried/smallest", %[[HIGH]]
// CHECK-NEXT: %[[SHORT:.*]] = nn.constant dense<-2147483648> : tensor<i32>
// CHECK-NEXT: sched.store "carried/longest", %[[SHORT]]

// CHECK:      sched.action "forward_backward" per_microbatch {
// CHECK-DAG:  %[[X:.*]] = sched.load "input/x" : tensor<4xf32>
// CHECK:      %[[L:.*]] = nn.reduce sum
// CHECK:      %[[BEFORE:.*]] = sched.load "carried/sum" : tensor<f32>
// CHECK-NEXT: %[[TOTAL:.*]] = nn.add %[[BEFORE]], %[[L]] : tensor<f32>
// CHECK:      sched.load "carried/largest"
// CHECK-NEXT: nn.maximum
// CHECK:      sched.load "carried/smallest"
// CHECK-NEXT: nn.minimum
// CHECK:      sched.store "carried/sum", %[[TOTAL]]

// CHECK:      sched.action "update" {
// CHECK:      %[[W:.*]] = nn.read @w
// CHECK:      %[[LATER:.*]] = nn.add %[[W]], %[[W]]
// CHECK:      nn.write @w
// CHECK-NEXT: sched.store "output/loss"
// CHECK:      sched.run "prepare"
// CHECK-NEXT: sched.run "forward_backward" 0
// CHECK-NEXT: sched.run "forward_backward" 1
// CHECK-NEXT: sched.run "update"
nn.step @train microbatches(2) inputs(["x", "rate"])
  prepare { ^bb0(%x: tensor<2x4xf32>, %rate: tensor<f32>): nn.yield %x : tensor<2x4xf32> }
  microbatch { ^bb0(%x: tensor<4xf32>, %rate: tensor<f32>, %all: tensor<2x4xf32>):
    %l = nn.reduce sum %x [0] : tensor<4xf32> -> tensor<f32>
    %n = nn.constant dense<5> : tensor<i32>
    nn.carry ["sum", "largest", "smallest", "longest"] ["sum", "max", "min", "max"] %l, %l, %n, %n
      : tensor<f32>, tensor<f32>, tensor<i32>, tensor<i32> }
  update { ^bb0(%l: tensor<f32>, %m: tensor<f32>, %s: tensor<i32>, %g: tensor<i32>, %all: tensor<2x4xf32>):
    %w = nn.read @w : tensor<4xf32>
    nn.write @w, %w : tensor<4xf32>
    %later = nn.add %w, %w : tensor<4xf32>
    %loss = nn.reduce sum %later [0] : tensor<4xf32> -> tensor<f32>
    nn.yield ["loss"] %loss : tensor<f32> }
