// A composite with a kernel is one launch; one without is its decomposition. What became of each is recorded on the module.
// RUN: weft-opt %s --weft-schedule --weft-fuse | FileCheck %s

// CHECK:      module attributes {{.*}}weft.composites = {{.*}}rms_norm = array<i64: 1, 0>{{.*}}softmax = array<i64: 0, 1>
// CHECK:      sched.launch "rms_norm"
// CHECK-SAME:   settings = {epsilon = array<f64: 1.000000e-05>, weight_offset = array<f64: 0.000000e+00>}
// CHECK-NOT:  "softmax"
// CHECK:      sched.launch "reduce"
// CHECK:      sched.launch "elementwise"
func.func @f(%x: tensor<4x8xf32>, %w: tensor<8xf32>) -> tensor<4x8xf32> {
  %y, %r = nn.rms_norm %x, %w {epsilon = 1.0e-5} : (tensor<4x8xf32>, tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4xf32>)
  %p = nn.softmax %y : tensor<4x8xf32>
  return %p : tensor<4x8xf32>
}
