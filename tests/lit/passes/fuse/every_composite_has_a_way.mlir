// Every composite is a kernel or its decomposition, in each float type: none is left without a way to run.
// RUN: weft-opt %s --weft-schedule --weft-fuse --weft-memory | FileCheck %s
// RUN: sed s/f32/f64/g %s | weft-opt --weft-schedule --weft-fuse --weft-memory | FileCheck %s

// CHECK-LABEL: sched.program "norms"
// CHECK-NOT:   nn.
// CHECK-LABEL: sched.program "attention"
// CHECK-NOT:   nn.
// CHECK-LABEL: sched.program "updates"
// CHECK-NOT:   nn.
func.func @norms(%x: tensor<4x8xf32>, %w: tensor<8xf32>) -> (tensor<4x8xf32>, tensor<8xf32>, tensor<4x8xf32>) {
  %y, %r = nn.rms_norm %x, %w {epsilon = 1.0e-5} : (tensor<4x8xf32>, tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4xf32>)
  %dx, %dw = nn.rms_norm_backward %y, %x, %w, %r {epsilon = 1.0e-5}
    : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<8xf32>, tensor<4xf32>) -> (tensor<4x8xf32>, tensor<8xf32>)
  %z, %m, %s = nn.layer_norm %dx, %w, %w {epsilon = 1.0e-5}
    : (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>)
  %g = nn.glu silu %z, %y : tensor<4x8xf32>
  %a = nn.activation gelu %g : tensor<4x8xf32>
  %p = nn.softmax %a : tensor<4x8xf32>
  return %dx, %dw, %p : tensor<4x8xf32>, tensor<8xf32>, tensor<4x8xf32>
}
func.func @attention(%q: tensor<1x4x4x8xf32>, %k: tensor<1x4x2x8xf32>, %sinks: tensor<4xf32>)
    -> (tensor<1x4x4x8xf32>, tensor<1x4x2x8xf32>, tensor<4xf32>) {
  %o, %lse = nn.attention %q, %k, %k sinks(%sinks) {scale = 0.5, causal}
    : (tensor<1x4x4x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2x8xf32>, tensor<4xf32>) -> (tensor<1x4x4x8xf32>, tensor<1x4x4xf32>)
  %dq, %dk, %dv, %ds = nn.attention_backward %o, %q, %k, %k, %o, %lse sinks(%sinks) {scale = 0.5, causal}
    : (tensor<1x4x4x8xf32>, tensor<1x4x4x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x4x8xf32>, tensor<1x4x4xf32>, tensor<4xf32>)
    -> (tensor<1x4x4x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2x8xf32>, tensor<4xf32>)
  return %dq, %dk, %ds : tensor<1x4x4x8xf32>, tensor<1x4x2x8xf32>, tensor<4xf32>
}
func.func @updates(%p: tensor<8xf32>, %g: tensor<8xf32>, %lr: tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %a, %m, %v = nn.adamw %p, %g, %g, %g, %lr, %lr, %lr {beta1 = 0.9, beta2 = 0.95, epsilon = 1.0e-8, weight_decay = 0.1}
    : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  %s, %n = nn.sgd %p, %g, %m, %lr {momentum = 0.9, weight_decay = 0.1}
    : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>)
  %l, %k = nn.lion %p, %g, %n, %lr {beta1 = 0.9, beta2 = 0.95, weight_decay = 0.1}
    : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>)
  return %a, %s, %l : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
