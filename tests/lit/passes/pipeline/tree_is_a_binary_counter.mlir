// What is carried by tree goes through a binary counter. Behind each microbatch runs the action that its number asks for: of
// four, fold_0 keeps the first of a pair, fold_1 joins a pair and keeps it, fold_2 joins all that waits. What is carried by
// sum goes on adding up in its slot.
// RUN: weft-opt %s --weft-schedule | FileCheck %s

// CHECK-LABEL: sched.program "four" microbatches(4) {
// CHECK:       sched.slot "carried/g" carried : tensor<8xf32>
// CHECK-NEXT:  sched.slot "carried/g/level_0" level : tensor<8xf32>
// CHECK-NEXT:  sched.slot "carried/g/level_1" level : tensor<8xf32>
// CHECK-NEXT:  sched.slot "carried/n" carried : tensor<i32>
// CHECK-NOT:   level
// CHECK:       sched.action "prepare" {
// CHECK-NEXT:  %[[ZERO:.*]] = nn.constant dense<0> : tensor<i32>
// CHECK-NEXT:  sched.store "carried/n", %[[ZERO]]
// CHECK-NEXT:  }
// CHECK:       sched.action "forward_backward" per_microbatch {
// CHECK:       %[[LEAF:.*]] = nn.leaf
// CHECK:       sched.store "carried/g", %[[LEAF]]
// CHECK:       sched.action "fold_0" {
// CHECK-NEXT:  %[[G:.*]] = sched.load "carried/g" : tensor<8xf32>
// CHECK-NEXT:  sched.store "carried/g/level_0", %[[G]]
// CHECK:       sched.action "fold_1" {
// CHECK-NEXT:  %[[SECOND:.*]] = sched.load "carried/g" : tensor<8xf32>
// CHECK-NEXT:  %[[FIRST:.*]] = sched.load "carried/g/level_0" : tensor<8xf32>
// CHECK-NEXT:  %[[PAIR:.*]] = nn.join %[[FIRST]], %[[SECOND]] : tensor<8xf32>
// CHECK-NEXT:  sched.store "carried/g/level_1", %[[PAIR]]
// CHECK:       sched.action "fold_2" {
// CHECK-NEXT:  %[[FOURTH:.*]] = sched.load "carried/g" : tensor<8xf32>
// CHECK-NEXT:  %[[THIRD:.*]] = sched.load "carried/g/level_0" : tensor<8xf32>
// CHECK-NEXT:  %[[LATER:.*]] = nn.join %[[THIRD]], %[[FOURTH]] : tensor<8xf32>
// CHECK-NEXT:  %[[EARLIER:.*]] = sched.load "carried/g/level_1" : tensor<8xf32>
// CHECK-NEXT:  %[[ALL:.*]] = nn.join %[[EARLIER]], %[[LATER]] : tensor<8xf32>
// CHECK-NEXT:  sched.store "carried/g", %[[ALL]]
// CHECK:       sched.run "prepare"
// CHECK-NEXT:  sched.run "forward_backward" 0
// CHECK-NEXT:  sched.run "fold_0"
// CHECK-NEXT:  sched.run "forward_backward" 1
// CHECK-NEXT:  sched.run "fold_1"
// CHECK-NEXT:  sched.run "forward_backward" 2
// CHECK-NEXT:  sched.run "fold_0"
// CHECK-NEXT:  sched.run "forward_backward" 3
// CHECK-NEXT:  sched.run "fold_2"
// CHECK-NEXT:  sched.run "update"
nn.step @four microbatches(4) inputs(["x"])
  prepare { ^bb0(%x: tensor<4x8xf32>): nn.yield }
  microbatch { ^bb0(%x: tensor<8xf32>):
    %g = nn.leaf %x : tensor<8xf32> -> tensor<8xf32>
    %n = nn.constant dense<5> : tensor<i32>
    nn.carry ["g", "n"] ["tree", "sum"] %g, %n : tensor<8xf32>, tensor<i32> }
  update { ^bb0(%g: tensor<8xf32>, %n: tensor<i32>): nn.yield ["g", "n"] %g, %n : tensor<8xf32>, tensor<i32> }

// Six cannot be halved twice: blocks of three add up in the slot, from the neutral element (-0.0: 0.0 would change the sign of
// a zero), and are the leaves of the counter.
// CHECK-LABEL: sched.program "six" microbatches(6) {
// CHECK:       sched.slot "carried/g/level_0" level : tensor<8xf32>
// CHECK-NOT:   level_1
// CHECK:       sched.action "prepare" {
// CHECK-NEXT:  %[[NEUTRAL:.*]] = nn.constant dense<-0.000000e+00> : tensor<8xf32>
// CHECK-NEXT:  sched.store "carried/g", %[[NEUTRAL]]
// CHECK:       sched.action "forward_backward" per_microbatch {
// CHECK:       %[[LEAF:.*]] = nn.leaf
// CHECK-NEXT:  %[[BEFORE:.*]] = sched.load "carried/g" : tensor<8xf32>
// CHECK-NEXT:  %[[SUM:.*]] = nn.join %[[BEFORE]], %[[LEAF]] : tensor<8xf32>
// CHECK-NEXT:  sched.store "carried/g", %[[SUM]]
// CHECK:       sched.action "fold_0" {
// CHECK-NEXT:  %[[BLOCK:.*]] = sched.load "carried/g" : tensor<8xf32>
// CHECK-NEXT:  sched.store "carried/g/level_0", %[[BLOCK]]
// CHECK-NEXT:  %[[AGAIN:.*]] = nn.constant dense<-0.000000e+00> : tensor<8xf32>
// CHECK-NEXT:  sched.store "carried/g", %[[AGAIN]]
// CHECK:       sched.run "forward_backward" 2
// CHECK-NEXT:  sched.run "fold_0"
// CHECK-NEXT:  sched.run "forward_backward" 3
// CHECK-NEXT:  sched.run "forward_backward" 4
// CHECK-NEXT:  sched.run "forward_backward" 5
// CHECK-NEXT:  sched.run "fold_1"
// CHECK-NEXT:  sched.run "update"
nn.step @six microbatches(6) inputs(["x"])
  prepare { ^bb0(%x: tensor<6x8xf32>): nn.yield }
  microbatch { ^bb0(%x: tensor<8xf32>):
    %g = nn.leaf %x : tensor<8xf32> -> tensor<8xf32>
    nn.carry ["g"] ["tree"] %g : tensor<8xf32> }
  update { ^bb0(%g: tensor<8xf32>): nn.yield ["g"] %g : tensor<8xf32> }

// One microbatch is the whole tree of its rank.
// CHECK-LABEL: sched.program "one" microbatches(1) {
// CHECK-NOT:   fold
// CHECK-NOT:   level
nn.step @one microbatches(1) inputs(["x"])
  prepare { ^bb0(%x: tensor<1x8xf32>): nn.yield }
  microbatch { ^bb0(%x: tensor<8xf32>):
    %g = nn.leaf %x : tensor<8xf32> -> tensor<8xf32>
    nn.carry ["g"] ["tree"] %g : tensor<8xf32> }
  update { ^bb0(%g: tensor<8xf32>): nn.yield ["g"] %g : tensor<8xf32> }
