// Clipping multiplies all gradients by max_norm / (norm + 1e-6), at most 1; 0 means none. The norm that is reported is the one before clipping.
// RUN: weft-opt %s --weft-update="optimizer=sgd clip-grad-norm=2" | FileCheck %s
// RUN: weft-opt %s --weft-update="optimizer=sgd clip-grad-norm=0" | FileCheck %s --check-prefix=NONE
// RUN: weft-opt %s --weft-update="optimizer=sgd lr=1 beta1=0 weight-decay=0 clip-grad-norm=2" -o %t && weft-run %t | FileCheck %s --check-prefix=EXECUTE

// CHECK:      %[[NORM:.*]] = nn.divide %{{.*}} : tensor<f64>
// CHECK:      %[[MAX:.*]] = nn.constant dense<2.000000e+00> : tensor<f64>
// CHECK-NEXT: %[[TINY:.*]] = nn.constant dense<{{9.99.*E-7|1.0*e-06}}> : tensor<f64>
// CHECK-NEXT: %[[BELOW:.*]] = nn.add %[[NORM]], %[[TINY]]
// CHECK-NEXT: nn.divide %[[MAX]], %[[BELOW]]
// CHECK:      nn.minimum
// NONE-NOT:   nn.minimum
// 32 gradients of 3: norm 3 sqrt(32) = 16.97; each is scaled to 2 / sqrt(32).
// EXECUTE:      {{^}}grad_norm: tensor<f32> = 16.9706{{$}}
// EXECUTE:      {{^}}@w: tensor<4x8xf32>  min -0.353553  max -0.353553
nn.parameter @w : tensor<4x8xf32> constant

nn.step @train microbatches(1) inputs([])
  prepare { nn.yield }
  microbatch {
    %g = nn.constant dense<3.0> : tensor<4x8xf32>
    nn.carry ["gradient/w/0"] ["sum"] %g : tensor<4x8xf32> }
  update { ^bb0(%g: tensor<4x8xf32>): nn.yield }
