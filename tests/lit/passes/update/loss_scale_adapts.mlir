// The loss scale is divided out of the gradients and the norm; it doubles after a window of finite steps, and halves when
// a gradient overflows.
// RUN: weft-opt %s --weft-update="optimizer=sgd lr=1 beta1=0 weight-decay=0 clip-grad-norm=0 loss-scale-window=1" -o %t
// RUN: weft-run %t --function finite --print | FileCheck %s --check-prefix=FINITE
// RUN: weft-run %t --function overflow --print | FileCheck %s --check-prefix=OVERFLOW

// FINITE:         {{^}}grad_norm: tensor<f32> = 5{{$}}
// FINITE-DAG:     {{^}}@scale: tensor<f32> = 16{{$}}
// FINITE-DAG:     {{^}}@loss_scale.good_steps: tensor<i64> = 0{{$}}
// FINITE-DAG:     {{^}}@w: tensor<2xf32> = [-3, -4]{{$}}
// OVERFLOW:       {{^}}skipped: tensor<i32> = 1{{$}}
// OVERFLOW-DAG:   {{^}}@scale: tensor<f32> = 4{{$}}
// OVERFLOW-DAG:   {{^}}@w: tensor<2xf32> = [0, 0]{{$}}
nn.parameter @w : tensor<2xf32> constant
nn.state @scale : tensor<f32> constant {mean = 8.0}
nn.step @finite microbatches(1) inputs([]) attributes {loss_scale = @scale}
  prepare { nn.yield }
  microbatch {
    %g = nn.constant dense<[24.0, 32.0]> : tensor<2xf32>
    nn.carry ["gradient/w/0"] ["sum"] %g : tensor<2xf32> }
  update { ^bb0(%g: tensor<2xf32>): nn.yield }
nn.step @overflow microbatches(1) inputs([]) attributes {loss_scale = @scale}
  prepare { nn.yield }
  microbatch {
    %g = nn.constant dense<[24.0, 0x7FC00000]> : tensor<2xf32>
    nn.carry ["gradient/w/0"] ["sum"] %g : tensor<2xf32> }
  update { ^bb0(%g: tensor<2xf32>): nn.yield }
