// RUN: weft-opt %s -split-input-file -verify-diagnostics --weft-cut="first-layers=1 forward-time=1"

// expected-error @+1 {{cut: the mesh has no pipeline; weft-schedule is for one stage}}
module { }

// -----

// expected-error @+1 {{cut: 2 stages on 4 pipeline ranks; each rank has the same number of them}}
module attributes {dist.mesh = #dist.mesh<p0 = 4 : pipeline = [p0]>} { }

// -----

module attributes {dist.mesh = #dist.mesh<p0 = 2 : pipeline = [p0]>} {
  // expected-error @+1 {{'nn.step' op cannot be cut before layer 1: it has no nn.boundary of that layer, and stages begin at boundaries}}
  nn.step @step microbatches(2) inputs(["x"])
    prepare { ^bb0(%x: tensor<2x4xf32>): nn.yield }
    microbatch { ^bb0(%x: tensor<4xf32>):
      %0 = nn.boundary 0 %x : tensor<4xf32>
      nn.carry ["y"] ["sum"] %0 : tensor<4xf32> }
    update { ^bb0(%y: tensor<4xf32>): nn.yield ["y"] %y : tensor<4xf32> }
}

// -----

// A layer that comes before the one that feeds it.
module attributes {dist.mesh = #dist.mesh<p0 = 2 : pipeline = [p0]>} {
  nn.step @step microbatches(2) inputs(["x"])
    prepare { ^bb0(%x: tensor<2x4xf32>): nn.yield }
    microbatch { ^bb0(%x: tensor<4xf32>):
      %1 = nn.boundary 1 %x : tensor<4xf32>
      // expected-error @+1 {{'nn.boundary' op of layer 0 depends on stage 1 and belongs to stage 0, which comes before it}}
      %0 = nn.boundary 0 %1 : tensor<4xf32>
      nn.carry ["y"] ["sum"] %0 : tensor<4xf32> }
    update { ^bb0(%y: tensor<4xf32>): nn.yield ["y"] %y : tensor<4xf32> }
}
