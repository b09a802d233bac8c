// A norm joins its neighbors' region; where its statistics are read later it is a region by itself, since it may be computed
// again then from its input alone. Short rows, and code that is not generated, leave the kernel.
// RUN: split-file %s %t
// RUN: weft-opt %t/forward.mlir --weft-schedule --weft-fuse | FileCheck %t/forward.mlir
// RUN: weft-opt %t/trained.mlir --weft-schedule --weft-fuse | FileCheck %t/trained.mlir
// RUN: weft-opt %t/short.mlir --weft-schedule --weft-fuse | FileCheck %t/short.mlir --check-prefix=KERNEL
// RUN: weft-opt %t/forward.mlir --weft-schedule --weft-fuse="generated=false" | FileCheck %t/forward.mlir --check-prefix=KERNEL

//--- forward.mlir
// CHECK:      sched.launch "elementwise"
// CHECK-SAME:   (tensor<16x64xf32>, tensor<16x64xf32>, tensor<64xf32>) -> (tensor<16x64xf32>, tensor<16x64xf32>)
// CHECK-NOT:  sched.launch
// KERNEL:     sched.launch "rms_norm"
func.func @forward(%x: tensor<16x64xf32>, %r: tensor<16x64xf32>, %w: tensor<64xf32>) -> (tensor<16x64xf32>, tensor<16x64xf32>) {
  %h = nn.add %x, %r : tensor<16x64xf32>
  %y, %rstd = nn.rms_norm %h, %w {epsilon = 1.0e-5 : f64} : (tensor<16x64xf32>, tensor<64xf32>) -> (tensor<16x64xf32>, tensor<16xf32>)
  return %h, %y : tensor<16x64xf32>, tensor<16x64xf32>
}

//--- trained.mlir
// CHECK:      weft.apart = {"a norm that may be computed again is by itself" = 3 : i64}
// CHECK:      sched.launch "elementwise"{{.*}} : (tensor<16x64xf32>, tensor<16x64xf32>) -> tensor<16x64xf32>
// CHECK:      sched.launch "elementwise"{{.*}} : (tensor<16x64xf32>, tensor<64xf32>) -> (tensor<16xf32>, tensor<16x64xf32>)
func.func @trained(%x: tensor<16x64xf32>, %r: tensor<16x64xf32>, %w: tensor<64xf32>) -> (tensor<16x64xf32>, tensor<16x64xf32>, tensor<16xf32>) {
  %h = nn.add %x, %r : tensor<16x64xf32>
  %y, %rstd = nn.rms_norm %h, %w {epsilon = 1.0e-5 : f64} : (tensor<16x64xf32>, tensor<64xf32>) -> (tensor<16x64xf32>, tensor<16xf32>)
  return %h, %y, %rstd : tensor<16x64xf32>, tensor<16x64xf32>, tensor<16xf32>
}

//--- short.mlir
// KERNEL:     sched.launch "rms_norm"
func.func @short(%x: tensor<16x32xf32>, %w: tensor<32xf32>) -> tensor<16x32xf32> {
  %y, %rstd = nn.rms_norm %x, %w {epsilon = 1.0e-5 : f64} : (tensor<16x32xf32>, tensor<32xf32>) -> (tensor<16x32xf32>, tensor<16xf32>)
  return %y : tensor<16x32xf32>
}
