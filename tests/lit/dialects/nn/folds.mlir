// Folds change no bit: adding 0 to a float stays (it would turn -0 into 0), as do casts that round.
// RUN: weft-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: func.func @identities
// CHECK-SAME:  (%[[I:.*]]: tensor<4xi64>, %[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT:  return %[[I]], %[[I]], %[[X]], %[[X]], %[[X]], %[[X]] :
func.func @identities(%i: tensor<4xi64>, %x: tensor<4xf32>)
    -> (tensor<4xi64>, tensor<4xi64>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %zero = nn.constant dense<0> : tensor<4xi64>
  %one = nn.constant dense<1> : tensor<4xi64>
  %unit = nn.constant dense<1.0> : tensor<4xf32>
  %0 = nn.add %zero, %i : tensor<4xi64>
  %1 = nn.multiply %one, %i : tensor<4xi64>
  %2 = nn.multiply %x, %unit : tensor<4xf32>
  %3 = nn.cast %x : tensor<4xf32> -> tensor<4xf32>
  %4 = nn.reshape %x : tensor<4xf32> -> tensor<4xf32>
  %5 = nn.broadcast %x [0] : tensor<4xf32> -> tensor<4xf32>
  return %0, %1, %2, %3, %4, %5
    : tensor<4xi64>, tensor<4xi64>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @stay
// CHECK:         nn.add
// CHECK:         nn.multiply
// CHECK:         nn.cast %{{.*}} : tensor<4xf32> -> tensor<4xbf16>
// CHECK:         nn.cast %{{.*}} : tensor<4xbf16> -> tensor<4xf32>
func.func @stay(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %zero = nn.constant dense<0.0> : tensor<4xf32>
  %0 = nn.add %x, %zero : tensor<4xf32>
  %1 = nn.multiply %x, %zero : tensor<4xf32>
  %half = nn.cast %x : tensor<4xf32> -> tensor<4xbf16>
  %2 = nn.cast %half : tensor<4xbf16> -> tensor<4xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// A maximum of -0 and 0 depends on the order of its operands: it is never turned around.
// CHECK-LABEL: func.func @order
// CHECK:         %[[ZERO:.*]] = nn.constant
// CHECK:         nn.maximum %[[ZERO]], %{{.*}} :
func.func @order(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = nn.constant dense<0.0> : tensor<4xf32>
  %0 = nn.maximum %zero, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
