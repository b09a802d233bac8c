// Ops that move values without computing print as they are written, and read back from both forms.
// RUN: weft-opt %s | weft-opt | FileCheck %s
// RUN: weft-opt --mlir-print-op-generic %s | weft-opt | FileCheck %s

func.func @shape(%x: tensor<4x6xf32>, %w: tensor<6xf32>, %i: tensor<i64>) {
  // CHECK: nn.reshape %{{.*}} : tensor<4x6xf32> -> tensor<4x2x3xf32>
  %0 = nn.reshape %x : tensor<4x6xf32> -> tensor<4x2x3xf32>
  // CHECK: nn.transpose %{{.*}} [1, 0] : tensor<4x6xf32> -> tensor<6x4xf32>
  %1 = nn.transpose %x [1, 0] : tensor<4x6xf32> -> tensor<6x4xf32>
  // CHECK: nn.broadcast %{{.*}} [2] : tensor<6xf32> -> tensor<4x5x6xf32>
  %2 = nn.broadcast %w [2] : tensor<6xf32> -> tensor<4x5x6xf32>
  // CHECK: nn.slice %{{.*}} [0, 2] : tensor<4x6xf32> -> tensor<4x3xf32>
  %3 = nn.slice %x [0, 2] : tensor<4x6xf32> -> tensor<4x3xf32>
  // CHECK: nn.slice %{{.*}} [0, 0](%{{.*}}, %{{.*}} : tensor<i64>, tensor<i64>) : tensor<4x6xf32> -> tensor<1x6xf32>
  %4 = nn.slice %x [0, 0](%i, %i : tensor<i64>, tensor<i64>) : tensor<4x6xf32> -> tensor<1x6xf32>
  // CHECK: nn.update_slice %{{.*}}, %{{.*}} [0, 2] : tensor<4x6xf32>, tensor<4x3xf32> -> tensor<4x6xf32>
  %u = nn.update_slice %x, %3 [0, 2] : tensor<4x6xf32>, tensor<4x3xf32> -> tensor<4x6xf32>
  // CHECK: nn.update_slice %{{.*}}, %{{.*}} [1, 0](%{{.*}}, %{{.*}} : tensor<i64>, tensor<i64>) : tensor<4x6xf32>, tensor<1x6xf32> -> tensor<4x6xf32>
  %v = nn.update_slice %x, %4 [1, 0](%i, %i : tensor<i64>, tensor<i64>) : tensor<4x6xf32>, tensor<1x6xf32> -> tensor<4x6xf32>
  // CHECK: nn.concatenate 1(%{{.*}}, %{{.*}}) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x12xf32>
  %5 = nn.concatenate 1(%x, %x) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x12xf32>
  // CHECK: nn.pad %{{.*}} [0, 1] [0, 2] 0.000000e+00 : tensor<4x6xf32> -> tensor<4x9xf32>
  %6 = nn.pad %x [0, 1] [0, 2] 0.000000e+00 : tensor<4x6xf32> -> tensor<4x9xf32>
  return
}
