// Variables, the three regions of a step, and layer boundaries print as they are written, and read back from both forms.
// RUN: weft-opt %s | weft-opt | FileCheck %s
// RUN: weft-opt --mlir-print-op-generic %s | weft-opt | FileCheck %s

// CHECK: nn.parameter @norm : tensor<8xf32> constant {mean = 1.000000e+00 : f64}
nn.parameter @norm : tensor<8xf32> constant {mean = 1.0}
// CHECK: nn.parameter @head : tensor<100x8xf32> normal {deviation = 2.000000e-02 : f64}
nn.parameter @head : tensor<100x8xf32> normal {deviation = 0.02}
// CHECK: nn.parameter @spread : tensor<8xbf16> uniform {deviation = 1.000000e+00 : f64}
nn.parameter @spread : tensor<8xbf16> uniform {deviation = 1.0}
// CHECK: nn.state @count : tensor<i64> constant
nn.state @count : tensor<i64> constant

// CHECK:      nn.step @train microbatches(2) inputs(["tokens", "step"]) attributes {objective = "loss"} prepare {
// CHECK-NEXT: ^bb0(%{{.*}}: tensor<2x4xi32>, %{{.*}}: tensor<i64>):
// CHECK:        nn.yield %{{.*}} : tensor<f32>
// CHECK-NEXT: } microbatch {
// CHECK-NEXT: ^bb0(%{{.*}}: tensor<4xi32>, %{{.*}}: tensor<i64>, %{{.*}}: tensor<f32>):
// CHECK:        nn.boundary 3 %{{.*}} : tensor<4xf32>
// CHECK:        nn.carry ["loss", "largest"] ["sum", "max"] %{{.*}}, %{{.*}} : tensor<f32>, tensor<f32>
// CHECK-NEXT: } update {
// CHECK-NEXT: ^bb0(%{{.*}}: tensor<f32>, %{{.*}}: tensor<f32>, %{{.*}}: tensor<f32>):
// CHECK:        nn.read @count : tensor<i64>
// CHECK:        nn.write @count, %{{.*}} : tensor<i64>
// CHECK:        nn.yield ["loss"] %{{.*}} : tensor<f32>
nn.step @train microbatches(2) inputs(["tokens", "step"]) attributes {objective = "loss"}
  prepare { ^bb0(%tokens: tensor<2x4xi32>, %step: tensor<i64>):
    %rate = nn.constant dense<0.5> : tensor<f32>
    nn.yield %rate : tensor<f32> }
  microbatch { ^bb0(%tokens: tensor<4xi32>, %step: tensor<i64>, %rate: tensor<f32>):
    %x = nn.cast %tokens : tensor<4xi32> -> tensor<4xf32>
    %y = nn.boundary 3 %x : tensor<4xf32>
    %loss = nn.reduce sum %y [0] : tensor<4xf32> -> tensor<f32>
    %largest = nn.reduce max %y [0] : tensor<4xf32> -> tensor<f32>
    nn.carry ["loss", "largest"] ["sum", "max"] %loss, %largest : tensor<f32>, tensor<f32> }
  update { ^bb0(%loss: tensor<f32>, %largest: tensor<f32>, %rate: tensor<f32>):
    %count = nn.read @count : tensor<i64>
    %one = nn.constant dense<1> : tensor<i64>
    %next = nn.add %count, %one : tensor<i64>
    nn.write @count, %next : tensor<i64>
    nn.yield ["loss"] %loss : tensor<f32> }
