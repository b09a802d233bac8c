// RUN: weft-opt %s --weft-seed-placements="zero=0" | FileCheck %s --check-prefixes=CHECK,PLAIN
// RUN: weft-opt %s --weft-seed-placements="zero=1 sequence=true" | FileCheck %s --check-prefixes=CHECK,ZERO
// What a plan says becomes a few attributes: where parameters are used and stored, how inputs and boundaries are split.
#mesh = #dist.mesh<d0 = 2, t0 = 2, t1 = 2 : data = [d0], data_shard = [d0], tensor = [t0, t1]>
module attributes {dist.mesh = #mesh} {
  // The storage of a weight is its use, with ZeRO split further: here along the rows that tensor ranks hold.
  // PLAIN: nn.parameter @up : {{.*}}dist.storage = #dist.at<#mesh, [t0, t1], []>, dist.use = #dist.at<#mesh, [t0, t1], []>
  // ZERO:  nn.parameter @up : {{.*}}dist.storage = #dist.at<#mesh, [t0, t1, d0], []>, dist.use = #dist.at<#mesh, [t0, t1], []>
  nn.parameter @up : tensor<16x8xf32> constant {nn.tensor_dimension = 0 : i64}
  // Two query groups are whole units: as many axes as divide them.
  // CHECK: nn.parameter @k : {{.*}}dist.use = #dist.at<#mesh, [t0], [], []>
  nn.parameter @k : tensor<2x4x8xf32> constant {nn.tensor_dimension = 0 : i64, nn.whole_parts}
  // Odd rows are split nevertheless: parts may be uneven. ZeRO takes a dimension that divides.
  // PLAIN: nn.parameter @odd : {{.*}}dist.storage = #dist.at<#mesh, [t0, t1], []>
  // ZERO:  nn.parameter @odd : {{.*}}dist.storage = #dist.at<#mesh, [t0, t1], [d0]>
  nn.parameter @odd : tensor<9x8xf32> constant {nn.tensor_dimension = 0 : i64}
  // A norm weight is whole where it is used.
  // PLAIN: nn.parameter @norm : {{.*}}dist.storage = #dist.at<#mesh, []>, dist.use = #dist.at<#mesh, []>
  // ZERO:  nn.parameter @norm : {{.*}}dist.storage = #dist.at<#mesh, [d0]>, dist.use = #dist.at<#mesh, []>
  nn.parameter @norm : tensor<8xf32> constant
  // State is named after its parameter, and lives where it lives.
  // ZERO: nn.state @optimizer.first_moment.up : {{.*}}dist.storage = #dist.at<#mesh, [t0, t1, d0], []>
  nn.state @optimizer.first_moment.up : tensor<16x8xf32> constant
  // CHECK: nn.state @optimizer.step : {{.*}}dist.storage = #dist.at<#mesh>
  nn.state @optimizer.step : tensor<i64> constant
  // A batch that divides is split; six samples on two data ranks are, five are not.
  // CHECK: func.func @f(%arg0: tensor<6x8x8xf32> {dist.at = #dist.at<#mesh, [d0], [], []>}, %arg1: tensor<5xi32> {dist.at = #dist.at<#mesh, []>})
  func.func @f(%x: tensor<6x8x8xf32>, %y: tensor<5xi32>) -> tensor<6x8x8xf32> {
    // PLAIN: nn.boundary 0 %arg0 {dist.at = #dist.at<#mesh, [d0], [], []>}
    // ZERO:  nn.boundary 0 %arg0 {dist.at = #dist.at<#mesh, [d0], [t0, t1], []>}
    %0 = nn.boundary 0 %x : tensor<6x8x8xf32>
    return %0 : tensor<6x8x8xf32>
  }
}
