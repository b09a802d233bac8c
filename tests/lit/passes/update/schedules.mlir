// The learning rate of the first optimizer step under each schedule; tests/unit/passes holds whole curves against formulas.
// RUN: weft-opt %s --weft-update="optimizer=sgd lr=1 schedule=constant" -o %t && weft-run %t | FileCheck %s --check-prefix=ONE
// RUN: weft-opt %s --weft-update="optimizer=sgd lr=1 schedule=linear warmup-steps=4 steps=10" -o %t && weft-run %t | FileCheck %s --check-prefix=WARMUP
// RUN: weft-opt %s --weft-update="optimizer=sgd lr=1 schedule=linear steps=10 min-lr-ratio=0.5" -o %t && weft-run %t | FileCheck %s --check-prefix=LINEAR
// RUN: weft-opt %s --weft-update="optimizer=sgd lr=1 schedule=cosine steps=2" -o %t && weft-run %t | FileCheck %s --check-prefix=COSINE
// RUN: weft-opt %s --weft-update="optimizer=sgd lr=1 schedule=wsd steps=4 decay-steps=4" -o %t && weft-run %t | FileCheck %s --check-prefix=WSD
// RUN: weft-opt %s --weft-update="optimizer=sgd lr=1 schedule=inverse_sqrt warmup-steps=2" -o %t && weft-run %t | FileCheck %s --check-prefix=INVERSE
// ONE:     {{^}}lr: tensor<f32> = 1{{$}}
// WARMUP:  {{^}}lr: tensor<f32> = 0.25{{$}}
// LINEAR:  {{^}}lr: tensor<f32> = 0.95{{$}}
// COSINE:  {{^}}lr: tensor<f32> = 0.5{{$}}
// WSD:     {{^}}lr: tensor<f32> = 0.75{{$}}
// INVERSE: {{^}}lr: tensor<f32> = 0.5{{$}}
nn.parameter @w : tensor<2xf32> constant
nn.step @train microbatches(1) inputs([])
  prepare { nn.yield }
  microbatch {
    %g = nn.constant dense<1.0> : tensor<2xf32>
    nn.carry ["gradient/w/0"] ["sum"] %g : tensor<2xf32> }
  update { ^bb0(%g: tensor<2xf32>): nn.yield }
