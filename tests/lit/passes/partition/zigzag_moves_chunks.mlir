// RUN: weft-opt %s --weft-partition | FileCheck %s
// A zigzag is gathered, cut and scattered by the collectives of any other split; the types say which chunks a rank has.
#mesh = #dist.mesh<c0 = 2, t0 = 2>
module attributes {dist.mesh = #mesh} {
  // The minor axis is gathered first, and leaves a zigzag of larger chunks; both at once are one gather.
  // CHECK-LABEL: func.func @gathered
  // CHECK:       dist.all_gather.start %arg0 over ["t0"] dim 0 : tensor<2xf32, #dist.local<#mesh, 8, zigzag [c0, t0]>> -> <tensor<4xf32, #dist.local<#mesh, 8, zigzag [c0]>>>
  // CHECK:       dist.all_gather.start %arg0 over ["c0", "t0"] dim 0 : {{.*}} -> <tensor<8xf32, #dist.local<#mesh, 8, []>>>
  func.func @gathered(%x: tensor<8xf32, #dist.at<#mesh, zigzag [c0, t0]>>) -> (tensor<8xf32, #dist.at<#mesh, zigzag [c0]>>, tensor<8xf32, #dist.at<#mesh, []>>) {
    %y = dist.reshard %x : tensor<8xf32, #dist.at<#mesh, zigzag [c0, t0]>> -> tensor<8xf32, #dist.at<#mesh, zigzag [c0]>>
    %z = dist.reshard %x : tensor<8xf32, #dist.at<#mesh, zigzag [c0, t0]>> -> tensor<8xf32, #dist.at<#mesh, []>>
    return %y, %z : tensor<8xf32, #dist.at<#mesh, zigzag [c0]>>, tensor<8xf32, #dist.at<#mesh, []>>
  }
  // CHECK-LABEL: func.func @cut
  // CHECK:       dist.slice %arg0 over ["c0", "t0"] dim 0 : {{.*}} -> tensor<2xf32, #dist.local<#mesh, 8, zigzag [c0, t0]>>
  // CHECK:       dist.reduce_scatter.start sum %arg1 over ["c0"] dim 0 : {{.*}} -> <tensor<4xf32, #dist.local<#mesh, 8, zigzag [c0]>>>
  func.func @cut(%x: tensor<8xf32, #dist.at<#mesh, []>>, %s: tensor<8xf32, #dist.at<#mesh, [], sum [c0]>>) -> (tensor<8xf32, #dist.at<#mesh, zigzag [c0, t0]>>, tensor<8xf32, #dist.at<#mesh, zigzag [c0]>>) {
    %y = dist.reshard %x : tensor<8xf32, #dist.at<#mesh, []>> -> tensor<8xf32, #dist.at<#mesh, zigzag [c0, t0]>>
    %z = dist.reshard %s : tensor<8xf32, #dist.at<#mesh, [], sum [c0]>> -> tensor<8xf32, #dist.at<#mesh, zigzag [c0]>>
    return %y, %z : tensor<8xf32, #dist.at<#mesh, zigzag [c0, t0]>>, tensor<8xf32, #dist.at<#mesh, zigzag [c0]>>
  }
  // Parts in zigzag are no parts in order: what one is made of is on several ranks.
  // CHECK-LABEL: func.func @in_order
  // CHECK:       dist.all_gather.start %arg0 over ["c0"] dim 0
  // CHECK:       dist.slice %{{.*}} over ["c0"] dim 0 : {{.*}} -> tensor<4xf32, #dist.local<#mesh, 8, [c0]>>
  func.func @in_order(%x: tensor<8xf32, #dist.at<#mesh, zigzag [c0]>>) -> tensor<8xf32, #dist.at<#mesh, [c0]>> {
    %y = dist.reshard %x : tensor<8xf32, #dist.at<#mesh, zigzag [c0]>> -> tensor<8xf32, #dist.at<#mesh, [c0]>>
    return %y : tensor<8xf32, #dist.at<#mesh, [c0]>>
  }
  // From positions to features and back, in one exchange each.
  // CHECK-LABEL: func.func @exchanged
  // CHECK:       dist.all_to_all.start %arg0 over ["c0"] from 0 to 1
  // CHECK:       dist.all_to_all.start %{{.*}} over ["c0"] from 1 to 0
  func.func @exchanged(%x: tensor<8x6xf32, #dist.at<#mesh, zigzag [c0], []>>) -> tensor<8x6xf32, #dist.at<#mesh, zigzag [c0], []>> {
    %y = dist.reshard %x : tensor<8x6xf32, #dist.at<#mesh, zigzag [c0], []>> -> tensor<8x6xf32, #dist.at<#mesh, [], [c0]>>
    %z = dist.reshard %y : tensor<8x6xf32, #dist.at<#mesh, [], [c0]>> -> tensor<8x6xf32, #dist.at<#mesh, zigzag [c0], []>>
    return %z : tensor<8x6xf32, #dist.at<#mesh, zigzag [c0], []>>
  }
  // A dimension of one beside it is nothing.
  // CHECK-LABEL: func.func @beside_nothing
  // CHECK:       nn.reshape %arg0 : tensor<1x4xf32, #dist.local<#mesh, 1x8, [], zigzag [c0]>> -> tensor<1x1x4xf32, #dist.local<#mesh, 1x1x8, [], [], zigzag [c0]>>
  func.func @beside_nothing(%x: tensor<1x8xf32, #dist.at<#mesh, [], zigzag [c0]>>) -> tensor<1x1x8xf32, #dist.at<#mesh, [], [], zigzag [c0]>> {
    %y = nn.reshape %x : tensor<1x8xf32, #dist.at<#mesh, [], zigzag [c0]>> -> tensor<1x1x8xf32, #dist.at<#mesh, [], [], zigzag [c0]>>
    return %y : tensor<1x1x8xf32, #dist.at<#mesh, [], [], zigzag [c0]>>
  }
}
