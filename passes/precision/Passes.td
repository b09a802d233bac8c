include "mlir/Pass/PassBase.td"

def Precision : Pass<"weft-precision", "::mlir::ModuleOp"> {
  let summary = "Applies the precision recipe to the global program";
  let description = [{
    Every declared type is a rounding, so a recipe is a change of types. Under `bf16` and `fp16` each read of a
    parameter in the microbatch region, and in functions, is followed by a cast to the compute type, and everything
    computed from it has that type, except what is a statistic or a loss: reciprocal deviations, log-sum-exps, per-token
    losses, sums. A float32 cache holds what is computed, in the compute type. What a region or function gives away keeps its type. `fp16` also carries `scaled_objective`, the
    objective times the state `loss_scale` over the step's denominator, and makes it the objective; the step's attribute
    `loss_scale` names the state, for `update` to divide out and adapt. `fp32` changes nothing.

    Before, and after with `recipe=bf16`:
    ```mlir
    %w = nn.read @w : tensor<8x4xf32>
    %y = nn.einsum "bh,fh->bf" (%x, %w) : (tensor<2x4xf32>, tensor<8x4xf32>) -> tensor<2x8xf32>
    ```
    ```mlir
    %w = nn.read @w : tensor<8x4xf32>
    %c = nn.cast %w : tensor<8x4xf32> -> tensor<8x4xbf16>
    %y = nn.einsum "bh,fh->bf" (%x, %c) : (tensor<2x4xbf16>, tensor<8x4xbf16>) -> tensor<2x8xbf16>
    ```
  }];
  let dependentDialects = ["::weft::nn::NnDialect"];
  let options = [
    Option<"recipe", "recipe", "std::string", "\"fp32\"", "fp32, bf16 or fp16">,
    Option<"initialLossScale", "initial-loss-scale", "double", "65536.0", "fp16: the loss scale of the first step">
  ];
}
