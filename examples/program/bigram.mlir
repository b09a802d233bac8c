// A bigram model of bytes, written by hand: the next byte's logits are a row of a low-rank table. A job may be given as
// a program like this one (model: {program: bigram.mlir}); gradients, norm, clipping and optimizer are added to it.

nn.parameter @embedding.weight : tensor<257x64xf32> normal {deviation = 0.02}
nn.parameter @head.weight : tensor<257x64xf32> normal {deviation = 0.02}

nn.step @step microbatches(2) inputs(["tokens", "targets"]) attributes {objective = "loss_sum", denominator = 0 : i64}
prepare {
^bb0(%tokens: tensor<2x8x64xi32>, %targets: tensor<2x8x64xi32>):
  // Every target counts: 2 microbatches of 8 samples of 64 bytes.
  %count = nn.constant dense<1024> : tensor<i64>
  nn.yield %count : tensor<i64>
} microbatch {
^bb0(%tokens: tensor<8x64xi32>, %targets: tensor<8x64xi32>, %count: tensor<i64>):
  %table = nn.read @embedding.weight : tensor<257x64xf32>
  %head = nn.read @head.weight : tensor<257x64xf32>
  %x = nn.gather %table, %tokens : (tensor<257x64xf32>, tensor<8x64xi32>) -> tensor<8x64x64xf32>
  %h = nn.activation gelu %x : tensor<8x64x64xf32>
  %loss, %z, %lse = nn.linear_cross_entropy %h, %head, %targets
    : (tensor<8x64x64xf32>, tensor<257x64xf32>, tensor<8x64xi32>) -> (tensor<8x64xf32>, tensor<8x64xf32>, tensor<8x64xf32>)
  %loss_sum = nn.reduce sum %loss [0, 1] : tensor<8x64xf32> -> tensor<f32>
  nn.carry ["loss_sum"] ["sum"] %loss_sum : tensor<f32>
} update {
^bb0(%loss_sum: tensor<f32>, %count: tensor<i64>):
  %divisor = nn.cast %count : tensor<i64> -> tensor<f32>
  %loss = nn.divide %loss_sum, %divisor : tensor<f32>
  nn.yield ["loss", "target_tokens"] %loss, %count : tensor<f32>, tensor<i64>
}
