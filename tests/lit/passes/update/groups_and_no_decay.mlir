// The first group whose pattern matches gives the learning rate's scale, and the decay if it names one; else no-decay and
// the common decay hold.
// RUN: weft-opt %s --weft-update="optimizer=lion lr=1 weight-decay=0.1 no-decay=c.* groups=a*:0.5:0.01,c*:2:,*.weight:2:0.2" | FileCheck %s

nn.parameter @a.weight : tensor<4x8xf32> constant
nn.parameter @b.weight : tensor<4x8xf32> constant
nn.parameter @c.weight : tensor<4x8xf32> constant

// CHECK:      %[[HALF:.*]] = nn.constant dense<5.000000e-01> : tensor<f32>
// CHECK-NEXT: %[[RATE:.*]] = nn.multiply %{{.*}}, %[[HALF]] : tensor<f32>
// CHECK-NEXT: nn.lion %{{.*}}, %{{.*}}, %{{.*}}, %[[RATE]] {{.*}}weight_decay = 1.000000e-02 : f64
// CHECK:      nn.write @a.weight
// CHECK:      %[[TWO:.*]] = nn.constant dense<2.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[RATE2:.*]] = nn.multiply %{{.*}}, %[[TWO]] : tensor<f32>
// CHECK-NEXT: nn.lion %{{.*}}, %{{.*}}, %{{.*}}, %[[RATE2]] {{.*}}weight_decay = 2.000000e-01 : f64
// CHECK:      nn.write @b.weight
// CHECK:      nn.lion {{.*}}weight_decay = 0.000000e+00 : f64
// CHECK:      nn.write @c.weight
nn.step @train microbatches(1) inputs([])
  prepare { nn.yield }
  microbatch {
    %g = nn.constant dense<1.0> : tensor<4x8xf32>
    nn.carry ["gradient/a.weight/0", "gradient/b.weight/0", "gradient/c.weight/0"] ["sum", "sum", "sum"] %g, %g, %g
      : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32> }
  update { ^bb0(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>, %c: tensor<4x8xf32>): nn.yield }
