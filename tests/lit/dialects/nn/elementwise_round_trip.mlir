// Every element-wise op prints as it is written, and reads back from both forms.
// RUN: weft-opt %s | weft-opt | FileCheck %s
// RUN: weft-opt --mlir-print-op-generic %s | weft-opt | FileCheck %s

func.func @unary(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) {
  // CHECK: nn.negate %{{.*}} : tensor<4x8xf32>
  %0 = nn.negate %x : tensor<4x8xf32>
  // CHECK: nn.abs %{{.*}} : tensor<4x8xf32>
  %1 = nn.abs %x : tensor<4x8xf32>
  // CHECK: nn.exp %{{.*}} : tensor<4x8xf32>
  %2 = nn.exp %x : tensor<4x8xf32>
  // CHECK: nn.log %{{.*}} : tensor<4x8xf32>
  %3 = nn.log %x : tensor<4x8xf32>
  // CHECK: nn.sqrt %{{.*}} : tensor<4x8xf32>
  %4 = nn.sqrt %x : tensor<4x8xf32>
  // CHECK: nn.rsqrt %{{.*}} : tensor<4x8xf32>
  %5 = nn.rsqrt %x : tensor<4x8xf32>
  // CHECK: nn.tanh %{{.*}} : tensor<4x8xf32>
  %6 = nn.tanh %x : tensor<4x8xf32>
  // CHECK: nn.sigmoid %{{.*}} : tensor<4x8xf32>
  %7 = nn.sigmoid %x : tensor<4x8xf32>
  // CHECK: nn.sin %{{.*}} : tensor<4x8xf32>
  %8 = nn.sin %x : tensor<4x8xf32>
  // CHECK: nn.cos %{{.*}} : tensor<4x8xf32>
  %9 = nn.cos %x : tensor<4x8xf32>
  // CHECK: nn.erf %{{.*}} : tensor<4x8xf32>
  %10 = nn.erf %x : tensor<4x8xf32>
  // CHECK: nn.floor %{{.*}} : tensor<4x8xf32>
  %11 = nn.floor %x : tensor<4x8xf32>
  // CHECK: nn.sign %{{.*}} : tensor<4x8xf32>
  %12 = nn.sign %x : tensor<4x8xf32>
  return
}

func.func @binary(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) {
  // CHECK: nn.add %{{.*}}, %{{.*}} : tensor<4x8xf32>
  %0 = nn.add %x, %y : tensor<4x8xf32>
  // CHECK: nn.subtract %{{.*}}, %{{.*}} : tensor<4x8xf32>
  %1 = nn.subtract %x, %y : tensor<4x8xf32>
  // CHECK: nn.multiply %{{.*}}, %{{.*}} : tensor<4x8xf32>
  %2 = nn.multiply %x, %y : tensor<4x8xf32>
  // CHECK: nn.divide %{{.*}}, %{{.*}} : tensor<4x8xf32>
  %3 = nn.divide %x, %y : tensor<4x8xf32>
  // CHECK: nn.maximum %{{.*}}, %{{.*}} : tensor<4x8xf32>
  %4 = nn.maximum %x, %y : tensor<4x8xf32>
  // CHECK: nn.minimum %{{.*}}, %{{.*}} : tensor<4x8xf32>
  %5 = nn.minimum %x, %y : tensor<4x8xf32>
  // CHECK: nn.power %{{.*}}, %{{.*}} : tensor<4x8xf32>
  %6 = nn.power %x, %y : tensor<4x8xf32>
  return
}

func.func @integers(%i: tensor<4xi64>, %j: tensor<4xi64>) {
  // CHECK: nn.add %{{.*}}, %{{.*}} : tensor<4xi64>
  %0 = nn.add %i, %j : tensor<4xi64>
  // CHECK: nn.subtract %{{.*}}, %{{.*}} : tensor<4xi64>
  %1 = nn.subtract %i, %j : tensor<4xi64>
  // CHECK: nn.multiply %{{.*}}, %{{.*}} : tensor<4xi64>
  %2 = nn.multiply %i, %j : tensor<4xi64>
  // CHECK: nn.divide %{{.*}}, %{{.*}} : tensor<4xi64>
  %3 = nn.divide %i, %j : tensor<4xi64>
  // CHECK: nn.maximum %{{.*}}, %{{.*}} : tensor<4xi64>
  %4 = nn.maximum %i, %j : tensor<4xi64>
  // CHECK: nn.minimum %{{.*}}, %{{.*}} : tensor<4xi64>
  %5 = nn.minimum %i, %j : tensor<4xi64>
  return
}

func.func @logical(%a: tensor<4xi1>, %b: tensor<4xi1>) {
  // CHECK: nn.and %{{.*}}, %{{.*}} : tensor<4xi1>
  %0 = nn.and %a, %b : tensor<4xi1>
  // CHECK: nn.or %{{.*}}, %{{.*}} : tensor<4xi1>
  %1 = nn.or %a, %b : tensor<4xi1>
  // CHECK: nn.not %{{.*}} : tensor<4xi1>
  %2 = nn.not %a : tensor<4xi1>
  return
}

func.func @conditions(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>, %m: tensor<4x8xi1>) {
  // CHECK: nn.is_finite %{{.*}} : tensor<4x8xf32> -> tensor<4x8xi1>
  %0 = nn.is_finite %x : tensor<4x8xf32> -> tensor<4x8xi1>
  // CHECK: nn.compare eq %{{.*}}, %{{.*}} : tensor<4x8xf32> -> tensor<4x8xi1>
  %1 = nn.compare eq %x, %y : tensor<4x8xf32> -> tensor<4x8xi1>
  // CHECK: nn.compare ne %{{.*}}, %{{.*}} : tensor<4x8xf32> -> tensor<4x8xi1>
  %2 = nn.compare ne %x, %y : tensor<4x8xf32> -> tensor<4x8xi1>
  // CHECK: nn.compare lt %{{.*}}, %{{.*}} : tensor<4x8xf32> -> tensor<4x8xi1>
  %3 = nn.compare lt %x, %y : tensor<4x8xf32> -> tensor<4x8xi1>
  // CHECK: nn.compare le %{{.*}}, %{{.*}} : tensor<4x8xf32> -> tensor<4x8xi1>
  %4 = nn.compare le %x, %y : tensor<4x8xf32> -> tensor<4x8xi1>
  // CHECK: nn.compare gt %{{.*}}, %{{.*}} : tensor<4x8xf32> -> tensor<4x8xi1>
  %5 = nn.compare gt %x, %y : tensor<4x8xf32> -> tensor<4x8xi1>
  // CHECK: nn.compare ge %{{.*}}, %{{.*}} : tensor<4x8xf32> -> tensor<4x8xi1>
  %6 = nn.compare ge %x, %y : tensor<4x8xf32> -> tensor<4x8xi1>
  // CHECK: nn.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<4x8xi1>, tensor<4x8xf32>
  %9 = nn.select %m, %x, %y : tensor<4x8xi1>, tensor<4x8xf32>
  return
}

func.func @conversions(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) {
  // CHECK: nn.cast %{{.*}} : tensor<4x8xf32> -> tensor<4x8xbf16>
  %0 = nn.cast %x : tensor<4x8xf32> -> tensor<4x8xbf16>
  // CHECK: nn.cast %{{.*}} : tensor<4x8xf32> -> tensor<4x8xi32>
  %1 = nn.cast %x : tensor<4x8xf32> -> tensor<4x8xi32>
  // CHECK: nn.stop_gradient %{{.*}} : tensor<4x8xf32>
  %2 = nn.stop_gradient %x : tensor<4x8xf32>
  return
}
