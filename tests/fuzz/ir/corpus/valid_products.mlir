func.func @main(%x: tensor<2x3x4xbf16>, %w: tensor<5x4xbf16>, %i: tensor<2x3xi32>, %step: tensor<i64>, %ids: tensor<2xi64>) -> (tensor<7x5xf32>, tensor<f64>) {
  %y = nn.einsum "bsh,fh->bsf" (%x, %w) : (tensor<2x3x4xbf16>, tensor<5x4xbf16>) -> tensor<2x3x5xf32>
  %d = nn.dropout %y, %step, %ids {rate = 0.1, seed = 1 : i64, op_id = 7 : i64} : tensor<2x3x5xf32>, tensor<i64>, tensor<2xi64>
  %g = nn.glu gelu_tanh %d, %y : tensor<2x3x5xf32>
  %p = nn.softmax %g : tensor<2x3x5xf32>
  %m = nn.reduce max %p [2] : tensor<2x3x5xf32> -> tensor<2x3xf32>
  %b = nn.broadcast %m [0, 1] : tensor<2x3xf32> -> tensor<2x3x5xf32>
  %c = nn.compare lt %p, %b : tensor<2x3x5xf32> -> tensor<2x3x5xi1>
  %s = nn.select %c, %p, %b : tensor<2x3x5xi1>, tensor<2x3x5xf32>
  %t = nn.scatter_add %i, %s : (tensor<2x3xi32>, tensor<2x3x5xf32>) -> tensor<7x5xf32>
  %n = nn.squared_norm %t : tensor<7x5xf32> -> tensor<f64>
  return %t, %n : tensor<7x5xf32>, tensor<f64>
}
