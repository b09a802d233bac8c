func.func @main(%x: tensor<4x6xf32>, %i: tensor<i64>, %p: tensor<3xi32>) -> (tensor<3x5xf32>, tensor<24xf32>, tensor<4x2xf32>, tensor<4x2xi32>) {
  %t = nn.transpose %x [1, 0] : tensor<4x6xf32> -> tensor<6x4xf32>
  %s = nn.slice %t [0, 1] (%i, %i : tensor<i64>, tensor<i64>) : tensor<6x4xf32> -> tensor<2x3xf32>
  %d = nn.pad %s [1, 0] [0, 2] 0.5 : tensor<2x3xf32> -> tensor<3x5xf32>
  %e = nn.concatenate 0 (%d, %d) : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<6x5xf32>
  %g = nn.gather %e, %p : (tensor<6x5xf32>, tensor<3xi32>) -> tensor<3x5xf32>
  %r = nn.reshape %x : tensor<4x6xf32> -> tensor<24xf32>
  %u = nn.cumulative_sum %r 0 : tensor<24xf32>
  %v, %w = nn.top_k %x : tensor<4x6xf32> -> tensor<4x2xf32>, tensor<4x2xi32>
  return %g, %u, %v, %w : tensor<3x5xf32>, tensor<24xf32>, tensor<4x2xf32>, tensor<4x2xi32>
}
