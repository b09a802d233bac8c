nn.parameter @w : tensor<8x4xf32> normal {deviation = 0.1}
nn.parameter @n : tensor<4xf32> constant {mean = 1.0}
nn.step @step microbatches(2) inputs(["x", "targets", "step"]) attributes {objective = "loss", denominator = 0}
  prepare { ^bb0(%x: tensor<2x3x4xf32>, %t: tensor<2x3xi32>, %s: tensor<i64>):
    %zero = nn.constant dense<0> : tensor<2x3xi32>
    %m = nn.compare ge %t, %zero : tensor<2x3xi32> -> tensor<2x3xi1>
    %i = nn.cast %m : tensor<2x3xi1> -> tensor<2x3xi64>
    %c = nn.reduce sum %i [0, 1] : tensor<2x3xi64> -> tensor<i64>
    nn.yield %c : tensor<i64> }
  microbatch { ^bb0(%x: tensor<3x4xf32>, %t: tensor<3xi32>, %s: tensor<i64>, %c: tensor<i64>):
    %n = nn.read @n : tensor<4xf32>
    %w = nn.read @w : tensor<8x4xf32>
    %b = nn.boundary 0 %x : tensor<3x4xf32>
    %y, %r = nn.rms_norm %b, %n {epsilon = 1.0e-5} : (tensor<3x4xf32>, tensor<4xf32>) -> (tensor<3x4xf32>, tensor<3xf32>)
    %a = nn.activation silu %y : tensor<3x4xf32>
    %loss, %z, %lse = nn.linear_cross_entropy %a, %w, %t {ignore_index = -1 : i64}
      : (tensor<3x4xf32>, tensor<8x4xf32>, tensor<3xi32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)
    %l = nn.reduce sum %loss [0] : tensor<3xf32> -> tensor<f32>
    nn.carry ["loss"] ["sum"] %l : tensor<f32> }
  update { ^bb0(%l: tensor<f32>, %c: tensor<i64>):
    %f = nn.cast %c : tensor<i64> -> tensor<f32>
    %mean = nn.divide %l, %f : tensor<f32>
    nn.yield ["loss"] %mean : tensor<f32> }
