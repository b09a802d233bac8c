// Rank kernels are planned like any launch, on no rank in particular: a reduction may take over its operand, a gather may not.
// RUN: weft-opt %s --weft-memory --split-input-file --verify-diagnostics | FileCheck %s

// CHECK:      sched.base "step" step slots(1) bytes(384)
// CHECK:      sched.launch "rank_mask"({{.*}}places = [#sched.place<"step", [[PART:.*]]>]
// CHECK-NEXT: sched.launch "all_reduce"({{.*}}places = [#sched.place<"step", [[PART]]>]
// CHECK-NEXT: sched.launch "all_gather"({{.*}}places = [#sched.place<"step"
sched.program "p" microbatches(1) {
  sched.slot "x" input : tensor<32xf32>
  sched.slot "whole" output : tensor<63xf32>
  sched.action "a" {
    %x = sched.load "x" : tensor<32xf32>
    %m = sched.launch "rank_mask"(%x) {settings = {axes = array<i64: 1>, dimension = array<i64: 0>, size = array<i64: 63>, value = array<f64: 0.0>}} : (tensor<32xf32>) -> tensor<32xf32>
    %s = sched.launch "all_reduce"(%m) {settings = {axes = array<i64: 0>, kind = "sum"}} : (tensor<32xf32>) -> tensor<32xf32>
    %w = sched.launch "all_gather"(%s) {settings = {axes = array<i64: 1>, dimension = array<i64: 0>}} : (tensor<32xf32>) -> tensor<63xf32>
    sched.store "whole", %w : tensor<63xf32>
  }
}

// -----

sched.program "p" microbatches(1) {
  sched.slot "x" input : tensor<4xi1>
  sched.action "a" {
    %x = sched.load "x" : tensor<4xi1>
    // expected-error @+1 {{'sched.launch' op cannot run on the CPU: kernel all_reduce: i1 has no sum; reduce it with max or min}}
    %s = sched.launch "all_reduce"(%x) {settings = {axes = array<i64: 0>, kind = "sum"}} : (tensor<4xi1>) -> tensor<4xi1>
  }
}
