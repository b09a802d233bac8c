// A step with a gradient that is not finite changes nothing: neither parameters nor moments nor the optimizer's step.
// RUN: weft-opt %s --weft-update="optimizer=sgd lr=1 beta1=0.5 weight-decay=0 clip-grad-norm=0" -o %t && weft-run %t --print | FileCheck %s

// CHECK:      {{^}}grad_norm: tensor<f32> = inf{{$}}
// CHECK-NEXT: {{^}}lr: tensor<f32> = 1{{$}}
// CHECK-NEXT: {{^}}skipped: tensor<i32> = 1{{$}}
// CHECK-DAG:  {{^}}@optimizer.step: tensor<i64> = 0{{$}}
// CHECK-DAG:  {{^}}@w: tensor<2xf32> = [1, 1]{{$}}
// CHECK-DAG:  {{^}}@optimizer.first_moment.w: tensor<2xf32> = [0, 0]{{$}}
nn.parameter @w : tensor<2xf32> constant {mean = 1.0}
nn.step @train microbatches(1) inputs([])
  prepare { nn.yield }
  microbatch {
    %g = nn.constant dense<[1.0, 0x7F800000]> : tensor<2xf32>
    nn.carry ["gradient/w/0"] ["sum"] %g : tensor<2xf32> }
  update { ^bb0(%g: tensor<2xf32>): nn.yield }
