include "mlir/Pass/PassBase.td"

def Differentiate : Pass<"weft-differentiate", "::mlir::ModuleOp"> {
  let summary = "Adds the backward of the objective to the microbatch region";
  let description = [{
    Reverse-mode differentiation of the carried value that the step's `objective` names, with respect to every
    `nn.read` of a parameter. Each read is a use with an accumulator of its own: the microbatch carries
    `gradient/<parameter>/<use>` by sum, and update receives it. Cotangents of parameters, and of casts of parameters,
    are built in the gradient type directly, so that a bf16 program never rounds a gradient to bf16 first. Ops are asked
    through `DifferentiableOpInterface` alone; an op without it on the way from a parameter to the objective is an
    error, unless it is `nn.stop_gradient`; so is a parameter that prepare reads, for no gradient would reach it.

    Before and after:
    ```mlir
    %w = nn.read @w : tensor<4xf32>
    %s = nn.multiply %w, %x : tensor<4xf32>
    %l = nn.reduce sum %s [0] : tensor<4xf32> -> tensor<f32>
    nn.carry ["objective"] ["sum"] %l : tensor<f32>
    ```
    ```mlir
    %one = nn.constant dense<1.0> : tensor<f32>
    %g = nn.broadcast %one [] : tensor<f32> -> tensor<4xf32>
    %dw = nn.multiply %g, %x : tensor<4xf32>
    nn.carry ["objective", "gradient/w/0"] ["sum", "sum"] %l, %dw : tensor<f32>, tensor<4xf32>
    ```
  }];
  let dependentDialects = ["::weft::nn::NnDialect"];
}
