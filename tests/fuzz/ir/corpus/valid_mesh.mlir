#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], data_shard = [d0], tensor = [t0]>
nn.parameter @e : tensor<5x8xf32> normal {deviation = 0.5, dist.use = #dist.at<#mesh, [t0], []>, nn.tensor_dimension = 0 : i64}
nn.parameter @up : tensor<6x8xf32> normal {deviation = 0.5, nn.tensor_dimension = 0 : i64}
nn.step @train microbatches(2) inputs(["t"]) attributes {objective = "loss"}
  prepare { ^bb0(%t: tensor<2x4x3xi32>): nn.yield }
  microbatch { ^bb0(%t: tensor<4x3xi32>):
    %e = nn.read @e : tensor<5x8xf32>
    %x = nn.gather %e, %t : (tensor<5x8xf32>, tensor<4x3xi32>) -> tensor<4x3x8xf32>
    %b = nn.boundary 0 %x : tensor<4x3x8xf32>
    %u = nn.read @up : tensor<6x8xf32>
    %h = nn.einsum "bsh,fh->bsf" (%b, %u) : (tensor<4x3x8xf32>, tensor<6x8xf32>) -> tensor<4x3x6xf32>
    %loss = nn.reduce sum %h [0, 1, 2] : tensor<4x3x6xf32> -> tensor<f32>
    nn.carry ["loss"] ["sum"] %loss : tensor<f32> }
  update { ^bb0(%loss: tensor<f32>): nn.yield ["loss"] %loss : tensor<f32> }
