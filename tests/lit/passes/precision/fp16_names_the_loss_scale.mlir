// fp16 adds one state for the loss scale, which all steps share; the objective that
// the program carries stays what it is, and a scaled one, divided by the denominator, is differentiated.
// RUN: weft-opt %s --weft-precision="recipe=fp16 initial-loss-scale=1024" | FileCheck %s

// CHECK-COUNT-1: nn.state @loss_scale : tensor<f32> constant {mean = 1.024000e+03 : f64}
// CHECK-NOT:     nn.state @loss_scale
// CHECK:         nn.step @first {{.*}}loss_scale = @loss_scale, objective = "scaled_objective"
// CHECK:         nn.cast %{{.*}} : tensor<4xf32> -> tensor<4xf16>
// CHECK:         %[[LOSS:.*]] = nn.reduce sum
// CHECK-NEXT:    %[[SCALE:.*]] = nn.read @loss_scale : tensor<f32>
// CHECK-NEXT:    %[[SCALED:.*]] = nn.multiply %[[LOSS]], %[[SCALE]]
// CHECK:         %[[COUNT:.*]] = nn.cast %{{.*}} : tensor<i64> -> tensor<f32>
// CHECK-NEXT:    %[[MEAN:.*]] = nn.divide %[[SCALED]], %[[COUNT]]
// CHECK-NEXT:    nn.carry ["loss", "scaled_objective"] ["sum", "sum"] %[[LOSS]], %[[MEAN]]
// CHECK:         update {
// CHECK-NEXT:    ^bb0(%{{.*}}: tensor<f32>, %{{.*}}: tensor<f32>, %{{.*}}: tensor<i64>):
// CHECK:         nn.step @second {{.*}}loss_scale = @loss_scale
nn.parameter @w : tensor<4xf32> constant
nn.step @first microbatches(1) inputs([]) attributes {objective = "loss", denominator = 0}
  prepare {
    %n = nn.constant dense<16> : tensor<i64>
    nn.yield %n : tensor<i64> }
  microbatch { ^bb0(%n: tensor<i64>):
    %w = nn.read @w : tensor<4xf32>
    %s = nn.multiply %w, %w : tensor<4xf32>
    %loss = nn.reduce sum %s [0] : tensor<4xf32> -> tensor<f32>
    nn.carry ["loss"] ["sum"] %loss : tensor<f32> }
  update { ^bb0(%loss: tensor<f32>, %n: tensor<i64>): nn.yield }
nn.step @second microbatches(1) inputs([]) attributes {objective = "loss"}
  prepare { nn.yield }
  microbatch {
    %w = nn.read @w : tensor<4xf32>
    %loss = nn.reduce sum %w [0] : tensor<4xf32> -> tensor<f32>
    nn.carry ["loss"] ["sum"] %loss : tensor<f32> }
  update { ^bb0(%loss: tensor<f32>): nn.yield }
