// Activations, gates, softmax and dropout print as they are written, and read back from both forms.
// RUN: weft-opt %s | weft-opt | FileCheck %s
// RUN: weft-opt --mlir-print-op-generic %s | weft-opt | FileCheck %s

func.func @activation(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>, %step: tensor<i64>, %samples: tensor<4xi64>) {
  // CHECK: nn.activation silu %{{.*}} : tensor<4x8xf32>
  %0 = nn.activation silu %x : tensor<4x8xf32>
  // CHECK: nn.activation gelu %{{.*}} : tensor<4x8xf32>
  %1 = nn.activation gelu %x : tensor<4x8xf32>
  // CHECK: nn.activation gelu_tanh %{{.*}} : tensor<4x8xf32>
  %2 = nn.activation gelu_tanh %x : tensor<4x8xf32>
  // CHECK: nn.activation relu %{{.*}} : tensor<4x8xf32>
  %3 = nn.activation relu %x : tensor<4x8xf32>
  // CHECK: nn.glu silu %{{.*}}, %{{.*}} : tensor<4x8xf32>
  %4 = nn.glu silu %x, %y : tensor<4x8xf32>
  // CHECK: nn.softmax %{{.*}} : tensor<4x8xf32>
  %5 = nn.softmax %x : tensor<4x8xf32>
  // CHECK: nn.dropout %{{.*}}, %{{.*}}, %{{.*}} {op_id = 7 : i64, rate = 1.000000e-01 : f64, seed = 1 : i64} : tensor<4x8xf32>, tensor<i64>, tensor<4xi64>
  %6 = nn.dropout %x, %step, %samples {op_id = 7 : i64, rate = 1.000000e-01 : f64, seed = 1 : i64} : tensor<4x8xf32>, tensor<i64>, tensor<4xi64>
  return
}
