// With exact types a cast to bf16 changes nothing; with declared types each op rounds.
// RUN: weft-run %s --print | FileCheck %s --check-prefix=EXACT
// RUN: weft-run %s --print --types declared | FileCheck %s --check-prefix=DECLARED
// EXACT:    result0: tensor<bf16> = 1.00390625{{$}}
// DECLARED: result0: tensor<bf16> = 1{{$}}
func.func @main() -> tensor<bf16> {
  %x = nn.constant dense<1.00390625> : tensor<f32>
  %y = nn.cast %x : tensor<f32> -> tensor<bf16>
  return %y : tensor<bf16>
}
