func.func @main(%q: tensor<2x6x4x8xf32>, %k: tensor<2x6x2x8xf32>, %s: tensor<2x6xi32>, %n: tensor<4xf32>, %c: tensor<6x4xf32>) -> tensor<2x6x4x8xf32> {
  %r = nn.rope %q, %c, %c {interleaved} : (tensor<2x6x4x8xf32>, tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<2x6x4x8xf32>
  %o, %lse = nn.attention %r, %k, %k segments(%s, %s) sinks(%n) {scale = 0.5, causal, window = 3 : i64, softcap = 2.0}
    : (tensor<2x6x4x8xf32>, tensor<2x6x2x8xf32>, tensor<2x6x2x8xf32>, tensor<2x6xi32>, tensor<2x6xi32>, tensor<4xf32>) -> (tensor<2x6x4x8xf32>, tensor<2x4x6xf32>)
  %p, %l = nn.attention %o, %k, %k segments(%s, %s) positions(%s, %s) sinks(%n) {scale = 0.5, causal}
    : (tensor<2x6x4x8xf32>, tensor<2x6x2x8xf32>, tensor<2x6x2x8xf32>, tensor<2x6xi32>, tensor<2x6xi32>, tensor<2x6xi32>, tensor<2x6xi32>, tensor<4xf32>) -> (tensor<2x6x4x8xf32>, tensor<2x4x6xf32>)
  return %p : tensor<2x6x4x8xf32>
}
