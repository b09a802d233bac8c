// What is written can be given back, from .npy and from .safetensors; with exact types floats are stored as float64.
// RUN: rm -rf %t && mkdir %t
// RUN: weft-run %s --function make --output %t/folder | FileCheck %s --check-prefix=MAKE
// RUN: weft-run %s --function make --output %t/all.safetensors | FileCheck %s --check-prefix=MAKE
// RUN: weft-run %s --function use --print --input arg0=%t/folder/result0.npy --input arg1=%t/folder/result1.npy | FileCheck %s --check-prefix=USE
// RUN: weft-run %s --function rename --output %t/renamed.safetensors
// RUN: weft-run %s --function step --print --input %t/renamed.safetensors | FileCheck %s --check-prefix=STEP
// MAKE:      {{^}}result0: tensor<f32> = 0.333333{{$}}
// MAKE-NEXT: {{^}}result1: tensor<2xi32> = [5, 6]{{$}}
// USE:       {{^}}result0: tensor<f32> = 0.3333333333333333{{$}}
// USE-NEXT:  {{^}}result1: tensor<2xi64> = [5, 6]{{$}}
// STEP:      {{^}}w: tensor<f32> = 0.3333333333333333{{$}}
func.func @make() -> (tensor<f32>, tensor<2xi32>) {
  %one = nn.constant dense<1.0> : tensor<f32>
  %three = nn.constant dense<3.0> : tensor<f32>
  %third = nn.divide %one, %three : tensor<f32>
  %n = nn.constant dense<[5, 6]> : tensor<2xi32>
  return %third, %n : tensor<f32>, tensor<2xi32>
}
func.func @use(%x: tensor<f32>, %n: tensor<2xi64>) -> (tensor<f32>, tensor<2xi64>) {
  return %x, %n : tensor<f32>, tensor<2xi64>
}
nn.parameter @result0 : tensor<f32> constant
nn.step @rename microbatches(1) inputs([])
  prepare { nn.yield }
  microbatch { nn.carry [] [] }
  update {
    %one = nn.constant dense<1.0> : tensor<f32>
    %three = nn.constant dense<3.0> : tensor<f32>
    %third = nn.divide %one, %three : tensor<f32>
    nn.write @result0, %third : tensor<f32>
    nn.yield }
nn.step @step microbatches(1) inputs([])
  prepare { nn.yield }
  microbatch { nn.carry [] [] }
  update {
    %w = nn.read @result0 : tensor<f32>
    nn.yield ["w"] %w : tensor<f32> }
