// Constants, generators, gather and scatter print as they are written, and read back from both forms.
// RUN: weft-opt %s | weft-opt | FileCheck %s
// RUN: weft-opt --mlir-print-op-generic %s | weft-opt | FileCheck %s

func.func @indexing(%table: tensor<10x8xf32>, %ids: tensor<4x6xi32>, %rows: tensor<4x6x8xf32>, %step: tensor<i64>, %samples: tensor<4xi64>) {
  // CHECK: nn.constant dense<1.500000e+00> : tensor<4xf32>
  %0 = nn.constant dense<1.500000e+00> : tensor<4xf32>
  // CHECK: nn.constant dense<[1, -2]> : tensor<2xi32>
  %1 = nn.constant dense<[1, -2]> : tensor<2xi32>
  // CHECK: nn.constant dense<true> : tensor<i1>
  %2 = nn.constant dense<true> : tensor<i1>
  // CHECK: nn.iota 1 : tensor<4x8xi32>
  %3 = nn.iota 1 : tensor<4x8xi32>
  // CHECK: nn.random_uniform %{{.*}}, %{{.*}} {op_id = 42 : i64, seed = 1 : i64} : tensor<i64>, tensor<4xi64> -> tensor<4x8xf32>
  %4 = nn.random_uniform %step, %samples {op_id = 42 : i64, seed = 1 : i64} : tensor<i64>, tensor<4xi64> -> tensor<4x8xf32>
  // CHECK: nn.gather %{{.*}}, %{{.*}} : (tensor<10x8xf32>, tensor<4x6xi32>) -> tensor<4x6x8xf32>
  %5 = nn.gather %table, %ids : (tensor<10x8xf32>, tensor<4x6xi32>) -> tensor<4x6x8xf32>
  // CHECK: nn.scatter_add %{{.*}}, %{{.*}} : (tensor<4x6xi32>, tensor<4x6x8xf32>) -> tensor<10x8xf32>
  %6 = nn.scatter_add %ids, %rows : (tensor<4x6xi32>, tensor<4x6x8xf32>) -> tensor<10x8xf32>
  return
}
