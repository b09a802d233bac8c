// The loss head and its backward print as they are written, and read back from both forms.
// RUN: weft-opt %s | weft-opt | FileCheck %s
// RUN: weft-opt --mlir-print-op-generic %s | weft-opt | FileCheck %s

func.func @loss(%x: tensor<2x6x8xf32>, %w: tensor<10x8xf32>, %t: tensor<2x6xi32>, %d: tensor<2x6xf32>) {
  // CHECK: nn.linear_cross_entropy %{{.*}}, %{{.*}}, %{{.*}} : (tensor<2x6x8xf32>, tensor<10x8xf32>, tensor<2x6xi32>) -> (tensor<2x6xf32>, tensor<2x6xf32>, tensor<2x6xf32>)
  %0, %1, %2 = nn.linear_cross_entropy %x, %w, %t : (tensor<2x6x8xf32>, tensor<10x8xf32>, tensor<2x6xi32>) -> (tensor<2x6xf32>, tensor<2x6xf32>, tensor<2x6xf32>)
  // CHECK: nn.linear_cross_entropy %{{.*}}, %{{.*}}, %{{.*}} {ignore_index = 0 : i64, label_smoothing = 1.000000e-01 : f64, softcap = 3.000000e+01 : f64, z_loss = 1.000000e-04 : f64} : (tensor<2x6x8xf32>, tensor<10x8xf32>, tensor<2x6xi32>) -> (tensor<2x6xf32>, tensor<2x6xf32>, tensor<2x6xf32>)
  %3, %4, %5 = nn.linear_cross_entropy %x, %w, %t {ignore_index = 0 : i64, label_smoothing = 1.000000e-01 : f64, softcap = 3.000000e+01 : f64, z_loss = 1.000000e-04 : f64} : (tensor<2x6x8xf32>, tensor<10x8xf32>, tensor<2x6xi32>) -> (tensor<2x6xf32>, tensor<2x6xf32>, tensor<2x6xf32>)
  // CHECK: nn.linear_cross_entropy_backward %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : (tensor<2x6xf32>, tensor<2x6xf32>, tensor<2x6x8xf32>, tensor<10x8xf32>, tensor<2x6xi32>, tensor<2x6xf32>) -> (tensor<2x6x8xf32>, tensor<10x8xf32>)
  %6, %7 = nn.linear_cross_entropy_backward %d, %d, %x, %w, %t, %d : (tensor<2x6xf32>, tensor<2x6xf32>, tensor<2x6x8xf32>, tensor<10x8xf32>, tensor<2x6xi32>, tensor<2x6xf32>) -> (tensor<2x6x8xf32>, tensor<10x8xf32>)
  return
}

// The forms for a part of the vocabulary, with and without padding.
func.func @part(%x: tensor<2x6x8xf32>, %w: tensor<5x8xf32>, %t: tensor<2x6xi32>, %d: tensor<2x6xf32>, %n: tensor<i64>) {
  // CHECK: nn.linear_cross_entropy_statistics %{{.*}}, %{{.*}}, %{{.*}} {softcap = 3.000000e+01 : f64} : (tensor<2x6x8xf32>, tensor<5x8xf32>, tensor<2x6xi32>) -> (tensor<2x6xf32>, tensor<2x6xf32>, tensor<2x6xf32>)
  %0, %1, %2 = nn.linear_cross_entropy_statistics %x, %w, %t {softcap = 3.000000e+01 : f64} : (tensor<2x6x8xf32>, tensor<5x8xf32>, tensor<2x6xi32>) -> (tensor<2x6xf32>, tensor<2x6xf32>, tensor<2x6xf32>)
  // CHECK: nn.linear_cross_entropy_statistics %{{.*}}, %{{.*}}, %{{.*}} valid %{{.*}} : (tensor<2x6x8xf32>, tensor<5x8xf32>, tensor<2x6xi32>, tensor<i64>)
  %3, %4, %5 = nn.linear_cross_entropy_statistics %x, %w, %t valid %n : (tensor<2x6x8xf32>, tensor<5x8xf32>, tensor<2x6xi32>, tensor<i64>) -> (tensor<2x6xf32>, tensor<2x6xf32>, tensor<2x6xf32>)
  // CHECK: nn.linear_cross_entropy_backward %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} valid %{{.*}} {part_of = 9 : i64} : (tensor<2x6xf32>, tensor<2x6xf32>, tensor<2x6x8xf32>, tensor<5x8xf32>, tensor<2x6xi32>, tensor<2x6xf32>, tensor<i64>)
  %6, %7 = nn.linear_cross_entropy_backward %d, %d, %x, %w, %t, %d valid %n {part_of = 9 : i64} : (tensor<2x6xf32>, tensor<2x6xf32>, tensor<2x6x8xf32>, tensor<5x8xf32>, tensor<2x6xi32>, tensor<2x6xf32>, tensor<i64>) -> (tensor<2x6x8xf32>, tensor<5x8xf32>)
  return
}
