// An unknown recipe, a loss scale that is none, and a step without an objective to scale are refused.
// RUN: not weft-opt %s --weft-precision=recipe=fp8 2>&1 | FileCheck %s --check-prefix=RECIPE
// RUN: not weft-opt %s --weft-precision="recipe=fp16 initial-loss-scale=0" 2>&1 | FileCheck %s --check-prefix=SCALE
// RUN: not weft-opt %s --weft-precision=recipe=fp16 2>&1 | FileCheck %s --check-prefix=OBJECTIVE
// RECIPE: error: precision: no recipe 'fp8'; there are fp32, bf16 and fp16
// SCALE: error: precision: the initial loss scale is 0{{.*}}; it must be a finite number above 0
// OBJECTIVE: error: 'nn.step' op has no carried 'objective' to scale
nn.step @train microbatches(1) inputs([])
  prepare { nn.yield }
  microbatch { nn.carry [] [] }
  update { nn.yield }
