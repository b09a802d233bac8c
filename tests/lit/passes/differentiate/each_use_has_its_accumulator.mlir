// Each read of a parameter is a use with a gradient of its own, carried by sum and handed to update; a parameter that the
// objective does not depend on gets zeros.
// RUN: weft-opt %s --weft-differentiate | FileCheck %s

nn.parameter @w : tensor<4xf32> constant
nn.parameter @unused : tensor<2xf32> constant

// CHECK:      %[[FIRST:.*]] = nn.read @w
// CHECK:      %[[SECOND:.*]] = nn.read @w
// CHECK:      %[[ONE:.*]] = nn.constant dense<1.000000e+00> : tensor<f32>
// CHECK:      %[[G:.*]] = nn.broadcast %[[ONE]] [] : tensor<f32> -> tensor<4xf32>
// CHECK-NEXT: %[[DFIRST:.*]] = nn.multiply %[[G]], %[[SECOND]]
// CHECK-NEXT: %[[DSECOND:.*]] = nn.multiply %[[G]], %[[FIRST]]
// CHECK:      %[[ZEROS:.*]] = nn.constant dense<0.000000e+00> : tensor<2xf32>
// CHECK:      nn.carry ["loss", "gradient/w/0", "gradient/w/1", "gradient/unused/0"] ["sum", "sum", "sum", "sum"] %{{.*}}, %[[DFIRST]], %[[DSECOND]], %[[ZEROS]] :
// CHECK:      update {
// CHECK-NEXT: ^bb0(%{{.*}}: tensor<f32>, %{{.*}}: tensor<4xf32>, %{{.*}}: tensor<4xf32>, %{{.*}}: tensor<2xf32>, %{{.*}}: tensor<i64>):
nn.step @train microbatches(1) inputs([]) attributes {objective = "loss"}
  prepare {
    %n = nn.constant dense<7> : tensor<i64>
    nn.yield %n : tensor<i64> }
  microbatch { ^bb0(%n: tensor<i64>):
    %a = nn.read @w : tensor<4xf32>
    %b = nn.read @w : tensor<4xf32>
    %u = nn.read @unused : tensor<2xf32>
    %p = nn.multiply %a, %b : tensor<4xf32>
    %loss = nn.reduce sum %p [0] : tensor<4xf32> -> tensor<f32>
    nn.carry ["loss"] ["sum"] %loss : tensor<f32> }
  update { ^bb0(%loss: tensor<f32>, %n: tensor<i64>): nn.yield }
