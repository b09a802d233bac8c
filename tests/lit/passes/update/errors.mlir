// Options and steps that the update cannot do are refused.
// RUN: not weft-opt %s --weft-update=optimizer=adam 2>&1 | FileCheck %s --check-prefix=OPTIMIZER
// RUN: not weft-opt %s --weft-update=schedule=step 2>&1 | FileCheck %s --check-prefix=SCHEDULE
// RUN: not weft-opt %s --weft-update=groups=a:b 2>&1 | FileCheck %s --check-prefix=GROUP
// RUN: not weft-opt %s --weft-update 2>&1 | FileCheck %s --check-prefix=DENOMINATOR
// OPTIMIZER: error: update: no optimizer 'adam'; there are adamw, sgd and lion
// SCHEDULE: error: update: no schedule 'step'; there are constant, linear, cosine, wsd and inverse_sqrt
// GROUP: error: update: group 'a:b' is not PATTERN:LR_SCALE:WEIGHT_DECAY
// DENOMINATOR: error: 'nn.step' op has denominator 1, but prepare yields 0 values
nn.parameter @w : tensor<4x8xf32> constant
nn.step @train microbatches(1) inputs([]) attributes {denominator = 1}
  prepare { nn.yield }
  microbatch {
    %g = nn.constant dense<3.0> : tensor<4x8xf32>
    nn.carry ["gradient/w/0"] ["sum"] %g : tensor<4x8xf32> }
  update { ^bb0(%g: tensor<4x8xf32>): nn.yield }
