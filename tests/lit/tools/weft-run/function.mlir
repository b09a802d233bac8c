// A function runs with inputs by seed; the result is shown whole, and does not change from run to run.
// RUN: weft-run %s --function double --print | FileCheck %s --check-prefix=DOUBLE
// RUN: weft-run %s --function constant --print | FileCheck %s --check-prefix=CONSTANT
// RUN: weft-run %s --function double --print > %t.first
// RUN: weft-run %s --function double --print --seed 1 > %t.again
// RUN: diff %t.first %t.again
// RUN: weft-run %s --function double --print --seed 2 > %t.other
// RUN: not diff %t.first %t.other

// DOUBLE: {{^}}result0: tensor<2xf32> = [{{-?[0-9.e-]+}}, {{-?[0-9.e-]+}}]{{$}}
func.func @double(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = nn.add %x, %x : tensor<2xf32>
  return %y : tensor<2xf32>
}

// CONSTANT:      {{^}}result0: tensor<2x2xf32> = {{\[\[}}1, 2.5], [inf, nan]]{{$}}
// CONSTANT-NEXT: {{^}}result1: tensor<i32> = -7{{$}}
// CONSTANT-NEXT: {{^}}result2: tensor<0xf32> = []{{$}}
func.func @constant() -> (tensor<2x2xf32>, tensor<i32>, tensor<0xf32>) {
  %x = nn.constant dense<[[1.0, 2.5], [0x7F800000, 0x7FC00000]]> : tensor<2x2xf32>
  %n = nn.constant dense<-7> : tensor<i32>
  %e = nn.constant dense<> : tensor<0xf32>
  return %x, %n, %e : tensor<2x2xf32>, tensor<i32>, tensor<0xf32>
}
