// Nothing is computed again where that would keep something else alive, or where what is read next is at the peak.
// RUN: weft-opt %s --weft-schedule --weft-fuse=generated=false --weft-rematerialize | FileCheck %s

// CHECK-NOT: weft.rematerialized
// CHECK: sched.launch "rms_norm"
// CHECK-NOT: sched.launch "rms_norm"

// %h is not read behind the peak: computing %y again would keep it there instead.
func.func @f(%x: tensor<64x128xf32>, %w: tensor<128xf32>, %v: tensor<128x512xf32>) -> (tensor<64x64xf32>, tensor<64x128xf32>) {
  %h = nn.multiply %x, %x : tensor<64x128xf32>
  %y, %rstd = nn.rms_norm %h, %w {epsilon = 1.0e-5} : (tensor<64x128xf32>, tensor<128xf32>) -> (tensor<64x128xf32>, tensor<64xf32>)
  %a = nn.einsum "mk,kn->mn"(%y, %v) : (tensor<64x128xf32>, tensor<128x512xf32>) -> tensor<64x512xf32>
  %b = nn.exp %a : tensor<64x512xf32>
  %c = nn.einsum "mk,nk->mn"(%b, %a) : (tensor<64x512xf32>, tensor<64x512xf32>) -> tensor<64x64xf32>
  %d = nn.exp %y : tensor<64x128xf32>
  return %c, %d : tensor<64x64xf32>, tensor<64x128xf32>
}
