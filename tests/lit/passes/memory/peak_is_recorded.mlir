// A program records what is live at the peak of its region, largest first, in which action that is, and the bound below which no
// offsets can go. What it leaves lies where the transposed input was.
// RUN: weft-opt %s --weft-schedule --weft-fuse --weft-memory | FileCheck %s

// CHECK: sched.base "step" step slots(1) bytes(1152)
// CHECK: sched.program "f" microbatches(1) attributes {sched.lower_bound = 1152 : i64, sched.peak = [{bytes = 1024 : i64, category = "activations", what = "transpose tensor<16x16xf32> at {{.*}}"}, {bytes = 64 : i64, category = "activations", what = "reduce tensor<16xf32> at {{.*}}], sched.peak_action = "run", sched.region_bytes = 1152 : i64}
func.func @f(%x: tensor<16x16xf32>) -> (tensor<16xf32>, tensor<16xf32>) {
  %t = nn.transpose %x [1, 0] : tensor<16x16xf32> -> tensor<16x16xf32>
  %a = nn.reduce sum %t [0] : tensor<16x16xf32> -> tensor<16xf32>
  %b = nn.reduce max %t [0] : tensor<16x16xf32> -> tensor<16xf32>
  %c = nn.concatenate 0 (%a, %b) : (tensor<16xf32>, tensor<16xf32>) -> tensor<32xf32>
  %d = nn.slice %c [8] : tensor<32xf32> -> tensor<16xf32>
  %e = nn.slice %c [4] : tensor<32xf32> -> tensor<16xf32>
  return %d, %e : tensor<16xf32>, tensor<16xf32>
}
