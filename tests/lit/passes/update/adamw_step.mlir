// One AdamW step: uses added in order, sums of squares in float64, one norm over all parameters, normalization and
// clipping in one scale, bias corrections from the optimizer's step, and one-dimensional parameters without decay.
// RUN: weft-opt %s --weft-update="optimizer=adamw lr=0.01 beta1=0.9 beta2=0.95 epsilon=1e-8 weight-decay=0.1 clip-grad-norm=1" | FileCheck %s

nn.parameter @w : tensor<4x8xf32> constant
nn.parameter @b : tensor<8xf32> constant

// CHECK-DAG: nn.state @optimizer.step : tensor<i64> constant
// CHECK-DAG: nn.state @optimizer.first_moment.w : tensor<4x8xf32> constant
// CHECK-DAG: nn.state @optimizer.second_moment.w : tensor<4x8xf32> constant
// CHECK-DAG: nn.state @optimizer.first_moment.b : tensor<8xf32> constant
// CHECK-DAG: nn.state @optimizer.second_moment.b : tensor<8xf32> constant
// CHECK:      update {
// CHECK-NEXT: ^bb0(%[[LOSS:.*]]: tensor<f32>, %[[W0:.*]]: tensor<4x8xf32>, %[[W1:.*]]: tensor<4x8xf32>, %[[B0:.*]]: tensor<8xf32>, %[[COUNT:.*]]: tensor<i64>):
// CHECK:      %[[GW:.*]] = nn.add %[[W0]], %[[W1]] : tensor<4x8xf32>
// CHECK:      %[[TOKENS:.*]] = nn.cast %[[COUNT]] : tensor<i64> -> tensor<f64>
// CHECK:      %[[SW:.*]] = nn.squared_norm %[[GW]] : tensor<4x8xf32> -> tensor<f64>
// CHECK-NEXT: %[[SB:.*]] = nn.squared_norm %[[B0]] : tensor<8xf32> -> tensor<f64>
// CHECK-NEXT: %[[SUM:.*]] = nn.add %[[SW]], %[[SB]] : tensor<f64>
// CHECK-NEXT: %[[ROOT:.*]] = nn.sqrt %[[SUM]]
// CHECK-NEXT: %[[NORM:.*]] = nn.divide %[[ROOT]], %{{.*}} : tensor<f64>
// CHECK-NEXT: %[[FINITE:.*]] = nn.is_finite %[[NORM]]
// CHECK:      nn.write @optimizer.step
// CHECK:      %[[NEWW:.*]], %[[M:.*]], %[[V:.*]] = nn.adamw {{.*}} {beta1 = 9.000000e-01 : f64, beta2 = 0.94999999999999996 : f64, epsilon = 1.000000e-08 : f64, weight_decay = 1.000000e-01 : f64} : (tensor<4x8xf32>
// A step whose norm is not finite leaves parameters and moments as they are.
// CHECK:      %[[COUNTS:.*]] = nn.broadcast %[[FINITE]] [] : tensor<i1> -> tensor<4x8xi1>
// CHECK-NEXT: %[[KEPT:.*]] = nn.select %[[COUNTS]], %[[NEWW]], %{{.*}} :
// CHECK-NEXT: nn.write @w, %[[KEPT]] : tensor<4x8xf32>
// CHECK:      nn.select %[[COUNTS]], %[[M]], %{{.*}} :
// CHECK-NEXT: nn.write @optimizer.first_moment.w
// CHECK:      nn.select %[[COUNTS]], %[[V]], %{{.*}} :
// CHECK-NEXT: nn.write @optimizer.second_moment.w
// CHECK:      nn.adamw {{.*}} weight_decay = 0.000000e+00 : f64} : (tensor<8xf32>
// CHECK:      nn.yield ["loss", "grad_norm", "lr", "skipped"] %[[LOSS]], %{{.*}} : tensor<f32>, tensor<f32>, tensor<f32>, tensor<i32>
nn.step @train microbatches(1) inputs([]) attributes {denominator = 0}
  prepare {
    %count = nn.constant dense<16> : tensor<i64>
    nn.yield %count : tensor<i64> }
  microbatch { ^bb0(%count: tensor<i64>):
    %loss = nn.constant dense<1.0> : tensor<f32>
    %w = nn.constant dense<1.0> : tensor<4x8xf32>
    %b = nn.constant dense<1.0> : tensor<8xf32>
    nn.carry ["loss", "gradient/w/0", "gradient/w/1", "gradient/b/0"] ["sum", "sum", "sum", "sum"] %loss, %w, %w, %b
      : tensor<f32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<8xf32> }
  update { ^bb0(%loss: tensor<f32>, %w0: tensor<4x8xf32>, %w1: tensor<4x8xf32>, %b0: tensor<8xf32>, %count: tensor<i64>):
    nn.yield ["loss"] %loss : tensor<f32> }
