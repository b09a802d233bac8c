// Attention and its backward, with and without segments and sinks, print as they are written.
// RUN: weft-opt %s | weft-opt | FileCheck %s
// RUN: weft-opt --mlir-print-op-generic %s | weft-opt | FileCheck %s

func.func @attention(%q: tensor<2x6x4x8xf32>, %k: tensor<2x6x2x8xf32>, %v: tensor<2x6x2x8xf32>, %do: tensor<2x6x4x8xf32>, %lse: tensor<2x4x6xf32>, %seg: tensor<2x6xi32>, %sinks: tensor<4xf32>) {
  // CHECK: nn.attention %{{.*}}, %{{.*}}, %{{.*}} {causal, scale = 5.000000e-01 : f64} : (tensor<2x6x4x8xf32>, tensor<2x6x2x8xf32>, tensor<2x6x2x8xf32>) -> (tensor<2x6x4x8xf32>, tensor<2x4x6xf32>)
  %0, %1 = nn.attention %q, %k, %v {causal, scale = 5.000000e-01 : f64} : (tensor<2x6x4x8xf32>, tensor<2x6x2x8xf32>, tensor<2x6x2x8xf32>) -> (tensor<2x6x4x8xf32>, tensor<2x4x6xf32>)
  // CHECK: nn.attention %{{.*}}, %{{.*}}, %{{.*}} segments(%{{.*}}, %{{.*}}) {scale = 5.000000e-01 : f64, softcap = 3.000000e+01 : f64, window = 4 : i64} : (tensor<2x6x4x8xf32>, tensor<2x6x2x8xf32>, tensor<2x6x2x8xf32>, tensor<2x6xi32>, tensor<2x6xi32>) -> (tensor<2x6x4x8xf32>, tensor<2x4x6xf32>)
  %2, %3 = nn.attention %q, %k, %v segments(%seg, %seg) {scale = 5.000000e-01 : f64, softcap = 3.000000e+01 : f64, window = 4 : i64} : (tensor<2x6x4x8xf32>, tensor<2x6x2x8xf32>, tensor<2x6x2x8xf32>, tensor<2x6xi32>, tensor<2x6xi32>) -> (tensor<2x6x4x8xf32>, tensor<2x4x6xf32>)
  // CHECK: nn.attention %{{.*}}, %{{.*}}, %{{.*}} sinks(%{{.*}}) {scale = 5.000000e-01 : f64} : (tensor<2x6x4x8xf32>, tensor<2x6x2x8xf32>, tensor<2x6x2x8xf32>, tensor<4xf32>) -> (tensor<2x6x4x8xf32>, tensor<2x4x6xf32>)
  %4, %5 = nn.attention %q, %k, %v sinks(%sinks) {scale = 5.000000e-01 : f64} : (tensor<2x6x4x8xf32>, tensor<2x6x2x8xf32>, tensor<2x6x2x8xf32>, tensor<4xf32>) -> (tensor<2x6x4x8xf32>, tensor<2x4x6xf32>)
  // CHECK: nn.attention_backward %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {causal, scale = 5.000000e-01 : f64} : (tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x6x2x8xf32>, tensor<2x6x2x8xf32>, tensor<2x6x4x8xf32>, tensor<2x4x6xf32>) -> (tensor<2x6x4x8xf32>, tensor<2x6x2x8xf32>, tensor<2x6x2x8xf32>)
  %6:3 = nn.attention_backward %do, %q, %k, %v, %do, %lse {causal, scale = 5.000000e-01 : f64} : (tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x6x2x8xf32>, tensor<2x6x2x8xf32>, tensor<2x6x4x8xf32>, tensor<2x4x6xf32>) -> (tensor<2x6x4x8xf32>, tensor<2x6x2x8xf32>, tensor<2x6x2x8xf32>)
  // CHECK: nn.attention_backward %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} segments(%{{.*}}, %{{.*}}) sinks(%{{.*}}) {scale = 5.000000e-01 : f64} : (tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x6x2x8xf32>, tensor<2x6x2x8xf32>, tensor<2x6x4x8xf32>, tensor<2x4x6xf32>, tensor<2x6xi32>, tensor<2x6xi32>, tensor<4xf32>) -> (tensor<2x6x4x8xf32>, tensor<2x6x2x8xf32>, tensor<2x6x2x8xf32>, tensor<4xf32>)
  %7:4 = nn.attention_backward %do, %q, %k, %v, %do, %lse segments(%seg, %seg) sinks(%sinks) {scale = 5.000000e-01 : f64} : (tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x6x2x8xf32>, tensor<2x6x2x8xf32>, tensor<2x6x4x8xf32>, tensor<2x4x6xf32>, tensor<2x6xi32>, tensor<2x6xi32>, tensor<4xf32>) -> (tensor<2x6x4x8xf32>, tensor<2x6x2x8xf32>, tensor<2x6x2x8xf32>, tensor<4xf32>)
  return
}
