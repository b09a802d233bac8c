// Behind the cut a module holds a program per pipeline rank. They run side by side, and mean what the one program of
// @whole.mlir means: the first rank doubles x and sends it on, the last one adds its weight to it. Inputs, outputs and
// variables are those of the whole, wherever they are.
// RUN: split-file %s %t
// RUN: weft-run %t/whole.mlir --print > %t.one
// RUN: weft-run %t/ranks.mlir --print | diff %t.one -
// RUN: FileCheck %s --input-file %t.one
// CHECK:      {{^}}largest: tensor<f64> = 3{{$}}
// CHECK-NEXT: {{^}}sum: tensor<4xf32> = [
// CHECK-NEXT: {{^}}@seen: tensor<i64> = 2{{$}}
// CHECK-NEXT: {{^}}@total: tensor<4xf32> = [

//--- whole.mlir
nn.state @seen : tensor<i64> constant
nn.parameter @weight : tensor<4xf32> normal {deviation = 1.0}
nn.state @total : tensor<4xf32> constant {mean = 1.0}
sched.program "step" microbatches(2) {
  sched.slot "input/x" input : tensor<4xf32> {per_microbatch}
  sched.slot "input/shift" input : tensor<4xf32>
  sched.slot "carried/sum" carried : tensor<4xf32>
  sched.slot "output/largest" output : tensor<f64>
  sched.slot "output/sum" output : tensor<4xf32>
  sched.action "prepare" {
    %zero = nn.constant dense<0.0> : tensor<4xf32>
    sched.store "carried/sum", %zero : tensor<4xf32>
  }
  sched.action "forward" per_microbatch {
    %x = sched.load "input/x" : tensor<4xf32>
    %twice = nn.add %x, %x : tensor<4xf32>
    %w = nn.read @weight : tensor<4xf32>
    %product = nn.multiply %twice, %w : tensor<4xf32>
    %shift = sched.load "input/shift" : tensor<4xf32>
    %moved = nn.add %product, %shift : tensor<4xf32>
    %before = sched.load "carried/sum" : tensor<4xf32>
    %after = nn.add %before, %moved : tensor<4xf32>
    sched.store "carried/sum", %after : tensor<4xf32>
  }
  sched.action "update" {
    %two = nn.constant dense<2> : tensor<i64>
    nn.write @seen, %two : tensor<i64>
    %sum = sched.load "carried/sum" : tensor<4xf32>
    nn.write @total, %sum : tensor<4xf32>
    sched.store "output/sum", %sum : tensor<4xf32>
    %three = nn.constant dense<3.0> : tensor<f64>
    sched.store "output/largest", %three : tensor<f64>
  }
  sched.run "prepare"
  sched.run "forward" 0
  sched.run "forward" 1
  sched.run "update"
}

//--- ranks.mlir
#mesh = #dist.mesh<p0 = 2, t0 = 2 : pipeline = [p0], tensor = [t0]>
#row = #dist.local<#mesh, 4, []>
#part = #dist.local<#mesh, 4, [t0]>
#all = #dist.local<#mesh, >
#terms = #dist.local<#mesh, , sum [p0]>
module attributes {dist.mesh = #mesh} {
  // The values of the first rank are whole on each of its two ranks along t0; it sends each its part.
  module @pipeline_rank_0 attributes {dist.mesh = #mesh, sched.pipeline_rank = 0 : i64} {
    nn.state @seen : tensor<i64, #all> constant
    sched.program "step" microbatches(2) {
      sched.slot "input/x" input : tensor<4xf32, #row> {per_microbatch}
      sched.slot "output/largest" output : tensor<f64, #all>
      sched.slot "twice" in_flight : tensor<2xf32, #part> {per_microbatch}
      sched.action "0F" per_microbatch {
        %x = sched.load "input/x" : tensor<4xf32, #row>
        %twice = nn.add %x, %x : tensor<4xf32, #row>
        %mine = dist.slice %twice over ["t0"] dim 0 : tensor<4xf32, #row> -> tensor<2xf32, #part>
        sched.store "twice", %mine : tensor<2xf32, #part>
      }
      sched.action "0F.send" per_microbatch {
        %mine = sched.load "twice" : tensor<2xf32, #part>
        dist.send %mine to 1 over ["p0"] : tensor<2xf32, #part>
      }
      sched.action "0F.send_wait" per_microbatch {
        dist.send_wait to 1 over ["p0"]
        sched.release "twice"
      }
      sched.action "update" {
        %one = nn.constant dense<1.0> : tensor<f64, #all>
        %term = dist.term %one over ["p0"] : tensor<f64, #all> -> tensor<f64, #terms>
        %token = dist.all_reduce.start sum %term over ["p0"] : tensor<f64, #terms> -> !dist.token<tensor<f64, #all>>
        %three = dist.wait %token : !dist.token<tensor<f64, #all>>
        sched.store "output/largest", %three : tensor<f64, #all>
        %two = nn.constant dense<2> : tensor<i64, #all>
        nn.write @seen, %two : tensor<i64, #all>
      }
      // Both messages are on their way before any is waited for.
      sched.run "0F" 0
      sched.run "0F.send" 0
      sched.run "0F" 1
      sched.run "0F.send" 1
      sched.run "0F.send_wait" 0
      sched.run "0F.send_wait" 1
      sched.run "update"
    }
  }
  module @pipeline_rank_1 attributes {dist.mesh = #mesh, sched.pipeline_rank = 1 : i64} {
    nn.state @seen : tensor<i64, #all> constant
    nn.parameter @weight : tensor<2xf32, #part> normal {deviation = 1.0}
    nn.state @total : tensor<2xf32, #part> constant {mean = 1.0}
    sched.program "step" microbatches(2) {
      sched.slot "input/shift" input : tensor<2xf32, #part>
      sched.slot "carried/sum" carried : tensor<2xf32, #part>
      sched.slot "output/sum" output : tensor<2xf32, #part>
      sched.slot "output/largest" output : tensor<f64, #all>
      sched.slot "from_0" in_flight : tensor<2xf32, #part> {per_microbatch}
      sched.action "prepare" {
        %zero = nn.constant dense<0.0> : tensor<2xf32, #part>
        sched.store "carried/sum", %zero : tensor<2xf32, #part>
      }
      sched.action "1F.receive" per_microbatch {
        %twice = dist.receive from 0 over ["p0"] : tensor<2xf32, #part>
        sched.store "from_0", %twice : tensor<2xf32, #part>
      }
      sched.action "1F.receive_wait" per_microbatch {
        dist.receive_wait from 0 over ["p0"]
      }
      sched.action "1F" per_microbatch {
        %twice = sched.load "from_0" : tensor<2xf32, #part>
        %w = nn.read @weight : tensor<2xf32, #part>
        %product = nn.multiply %twice, %w : tensor<2xf32, #part>
        %shift = sched.load "input/shift" : tensor<2xf32, #part>
        %moved = nn.add %product, %shift : tensor<2xf32, #part>
        %before = sched.load "carried/sum" : tensor<2xf32, #part>
        %after = nn.add %before, %moved : tensor<2xf32, #part>
        sched.store "carried/sum", %after : tensor<2xf32, #part>
      }
      sched.action "update" {
        %two = nn.constant dense<2.0> : tensor<f64, #all>
        %term = dist.term %two over ["p0"] : tensor<f64, #all> -> tensor<f64, #terms>
        %token = dist.all_reduce.start sum %term over ["p0"] : tensor<f64, #terms> -> !dist.token<tensor<f64, #all>>
        %three = dist.wait %token : !dist.token<tensor<f64, #all>>
        sched.store "output/largest", %three : tensor<f64, #all>
        %seen = nn.constant dense<2> : tensor<i64, #all>
        nn.write @seen, %seen : tensor<i64, #all>
        %sum = sched.load "carried/sum" : tensor<2xf32, #part>
        nn.write @total, %sum : tensor<2xf32, #part>
        sched.store "output/sum", %sum : tensor<2xf32, #part>
      }
      sched.run "prepare"
      sched.run "1F.receive" 0
      sched.run "1F.receive_wait" 0
      sched.run "1F" 0
      sched.run "1F.receive" 1
      sched.run "1F.receive_wait" 1
      sched.run "1F" 1
      sched.run "update"
    }
  }
}
