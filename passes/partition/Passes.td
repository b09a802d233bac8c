include "mlir/Pass/PassBase.td"

def Partition : Pass<"weft-partition", "::mlir::ModuleOp"> {
  let summary = "From the global view to one rank's part";
  let description = [{
    Every type becomes that of a rank's part, with its placement still there to be checked; every `dist.reshard` becomes
    the shortest path of collectives (passes/analysis/ReshardPath.h). Where an op reduces over a dimension whose parts
    are not all full, `dist.mask` first sets what lies behind the valid elements to the neutral element.

    Before and after:
    ```mlir
    %y = dist.reshard %x : tensor<4x8xf32, #dist.at<#mesh, [], [], sum [t0]>> -> tensor<4x8xf32, #dist.at<#mesh, [t0], []>>
    ```
    ```mlir
    %t = dist.reduce_scatter.start sum %x over ["t0"] dim 0 : tensor<4x8xf32, #dist.local<#mesh, 4x8, [], [], sum [t0]>>
      -> !dist.token<tensor<2x8xf32, #dist.local<#mesh, 4x8, [t0], []>>>
    %y = dist.wait %t : !dist.token<tensor<2x8xf32, #dist.local<#mesh, 4x8, [t0], []>>>
    ```
  }];
  let dependentDialects = ["::weft::dist::DistDialect", "::weft::nn::NnDialect"];
}
