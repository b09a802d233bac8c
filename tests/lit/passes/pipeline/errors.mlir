// Functions that are no program are refused: without a body, of several blocks, of values that are no tensors.
// RUN: weft-opt %s --weft-schedule --split-input-file --verify-diagnostics

// expected-error @+1 {{'func.func' op has 0 blocks; a program is made of one}}
func.func private @outside(tensor<4xf32>)

// -----

// expected-error @+1 {{'func.func' op has 2 blocks; a program is made of one}}
func.func @two() {
  return
^bb1:
  return
}

// -----

// expected-error @+1 {{'func.func' op takes and returns tensors alone, got 'i32'}}
func.func @scalar(%x: i32) { return }
