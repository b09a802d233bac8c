// A norm that is read on both sides of the peak is computed twice: what it is computed from lives there anyway. An einsum is not
// cheap, and stays.
// RUN: weft-opt %s --weft-schedule --weft-fuse=generated=false --weft-rematerialize | FileCheck %s

// CHECK: weft.rematerialized = array<i64: 1, 32768>
func.func @f(%x: tensor<64x128xf32>, %q: tensor<128x128xf32>, %w: tensor<128xf32>, %v: tensor<128x512xf32>) -> (tensor<64x64xf32>, tensor<64x128xf32>) {
  // CHECK: %[[H:.*]] = sched.launch "einsum"
  %h = nn.einsum "mk,nk->mn"(%x, %q) : (tensor<64x128xf32>, tensor<128x128xf32>) -> tensor<64x128xf32>
  // CHECK: %[[Y:.*]]:2 = sched.launch "rms_norm"(%[[H]], %[[W:.*]])
  %y, %rstd = nn.rms_norm %h, %w {epsilon = 1.0e-5} : (tensor<64x128xf32>, tensor<128xf32>) -> (tensor<64x128xf32>, tensor<64xf32>)
  // CHECK: %[[A:.*]] = sched.launch "einsum"(%[[Y]]#0,
  %a = nn.einsum "mk,kn->mn"(%y, %v) : (tensor<64x128xf32>, tensor<128x512xf32>) -> tensor<64x512xf32>
  // The peak: %h, %a and what is computed from %a.
  %b = nn.exp %a : tensor<64x512xf32>
  %c = nn.einsum "mk,nk->mn"(%b, %a) : (tensor<64x512xf32>, tensor<64x512xf32>) -> tensor<64x64xf32>
  // CHECK: %[[Z:.*]]:2 = sched.launch "rms_norm"(%[[H]], %[[W]])
  // CHECK: sched.launch "elementwise"(%[[Z]]#0, %[[H]])
  %d = nn.add %y, %h : tensor<64x128xf32>
  return %c, %d : tensor<64x64xf32>, tensor<64x128xf32>
}
