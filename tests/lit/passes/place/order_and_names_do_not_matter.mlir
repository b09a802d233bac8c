// RUN: weft-opt %s --split-input-file --weft-place | FileCheck %s
// Two branches meet in a draw: rows or columns of the product may keep the axis, at equal cost. Who wins is a matter of the
// op's own factors, so the same program with its independent ops and arguments in another order, and other names, is
// placed alike.
// CHECK-LABEL: module
// CHECK-DAG:   nn.tanh %{{.*}} : tensor<8x8xf32, #dist.at<#mesh, [a], []>>
// CHECK-DAG:   nn.exp %{{.*}} : tensor<8x8xf32, #dist.at<#mesh, [], [a]>>
// CHECK:       dist.reshard %{{.*}} : tensor<8x8xf32, #dist.at<#mesh, [], [a]>> -> tensor<8x8xf32, #dist.at<#mesh, [a], []>>
// CHECK-NEXT:  nn.multiply %{{.*}} : tensor<8x8xf32, #dist.at<#mesh, [a], []>>
#mesh = #dist.mesh<a = 2>
module attributes {dist.mesh = #mesh} {
  func.func @f(%x: tensor<8x8xf32> {dist.at = #dist.at<#mesh, [a], []>}, %y: tensor<8x8xf32> {dist.at = #dist.at<#mesh, [], [a]>}) -> tensor<8x8xf32> {
    %0 = nn.tanh %x : tensor<8x8xf32>
    %1 = nn.exp %y : tensor<8x8xf32>
    %2 = nn.multiply %0, %1 : tensor<8x8xf32>
    return %2 : tensor<8x8xf32>
  }
}

// -----

// CHECK-LABEL: module
// CHECK-DAG:   nn.tanh %{{.*}} : tensor<8x8xf32, #dist.at<#mesh, [a], []>>
// CHECK-DAG:   nn.exp %{{.*}} : tensor<8x8xf32, #dist.at<#mesh, [], [a]>>
// CHECK:       dist.reshard %{{.*}} : tensor<8x8xf32, #dist.at<#mesh, [], [a]>> -> tensor<8x8xf32, #dist.at<#mesh, [a], []>>
// CHECK-NEXT:  nn.multiply %{{.*}} : tensor<8x8xf32, #dist.at<#mesh, [a], []>>
#mesh = #dist.mesh<a = 2>
module attributes {dist.mesh = #mesh} {
  func.func @another(%later: tensor<8x8xf32> {dist.at = #dist.at<#mesh, [], [a]>}, %sooner: tensor<8x8xf32> {dist.at = #dist.at<#mesh, [a], []>}) -> tensor<8x8xf32> {
    %second = nn.exp %later : tensor<8x8xf32>
    %first = nn.tanh %sooner : tensor<8x8xf32>
    %product = nn.multiply %second, %first : tensor<8x8xf32>
    return %product : tensor<8x8xf32>
  }
}
