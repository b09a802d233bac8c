// RUN: weft-opt %s --weft-seed-placements=zero=3 --weft-place --weft-partition | FileCheck %s
// A program without a mesh is one device's.
// CHECK:     nn.parameter @w : tensor<4xf32> constant
// CHECK-NOT: dist.
nn.parameter @w : tensor<4xf32> constant
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %w = nn.read @w : tensor<4xf32>
  %y = nn.add %x, %w : tensor<4xf32>
  return %y : tensor<4xf32>
}
