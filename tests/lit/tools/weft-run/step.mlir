// A step runs its regions: outputs by their names, then the variables that it writes. Tokens are below the table's rows.
// RUN: weft-run %s --print | FileCheck %s
// CHECK:      {{^}}tokens_sum: tensor<i64> = {{[0-6]$}}
// CHECK-NEXT: {{^}}scale: tensor<f32> = 3{{$}}
// CHECK-NEXT: {{^}}@counter: tensor<i64> = 5{{$}}
nn.parameter @table : tensor<4x2xf32> normal {deviation = 1.0}
nn.state @counter : tensor<i64> constant {mean = 4.0}
nn.state @scale : tensor<f32> constant {mean = 3.0}

nn.step @train microbatches(2) inputs(["tokens"])
  prepare { ^bb0(%tokens: tensor<2x1xi32>): nn.yield }
  microbatch { ^bb0(%tokens: tensor<1xi32>):
    %t = nn.read @table : tensor<4x2xf32>
    %rows = nn.gather %t, %tokens : (tensor<4x2xf32>, tensor<1xi32>) -> tensor<1x2xf32>
    %sum = nn.reduce sum %tokens [0] : tensor<1xi32> -> tensor<i64>
    nn.carry ["tokens_sum"] ["sum"] %sum : tensor<i64> }
  update { ^bb0(%sum: tensor<i64>):
    %c = nn.read @counter : tensor<i64>
    %s = nn.read @scale : tensor<f32>
    %one = nn.constant dense<1> : tensor<i64>
    %next = nn.add %c, %one : tensor<i64>
    nn.write @counter, %next : tensor<i64>
    nn.yield ["tokens_sum", "scale"] %sum, %s : tensor<i64>, tensor<f32> }
