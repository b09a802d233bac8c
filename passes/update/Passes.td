include "mlir/Pass/PassBase.td"

def Update : Pass<"weft-update", "::mlir::ModuleOp"> {
  let summary = "Adds norm, clipping, the optimizer and the learning-rate schedule to the update region";
  let description = [{
    Takes the gradients that `differentiate` carried. Per parameter: the uses are added in order, the float64 sum of
    squares is taken, and the sums are folded in symbol order: the global norm. The gradient is divided by the
    denominator that the step's `denominator` names among prepare's yielded values (the target tokens of the global
    batch) and by the loss scale if there is one, clipped by the norm, and given to the optimizer. If the norm is not finite every
    parameter and state keeps its value, and neither the optimizer's step nor the learning-rate schedule moves.
    One-dimensional parameters, those marked `nn.one_dimensional` (what is one-dimensional in the
    checkpoint), and those that `no-decay` matches, do not decay, unless
    their group says how much. Outputs `grad_norm`, `lr`, `skipped`
    are added to the step's.

    With `reduction=canonical` the sums over the global batch are those of one binary tree (nn.leaf), whatever the number
    of data ranks: float values that microbatch carries by sum become leaves, carried by `tree`, and the norm sums float64
    rows of whole parameters. `nn.row_dimension` of a parameter says which dimension its rows are of; storage splits that
    one. It is a function of the shape and of the number of leaves, so that it is the same on every mesh.

    Before and after, one parameter and SGD:
    ```mlir
    update { ^bb0(%loss: tensor<f32>, %gw: tensor<4x8xf32>, %count: tensor<i64>): nn.yield ["loss"] %loss : tensor<f32> }
    ```
    ```mlir
    update { ^bb0(%loss: tensor<f32>, %gw: tensor<4x8xf32>, %count: tensor<i64>):
      %squares = nn.squared_norm %gw : tensor<4x8xf32> -> tensor<f64>
      ...
      %new, %momentum = nn.sgd %w, %scaled, %m, %lr {...}
      nn.write @w, %kept : tensor<4x8xf32>
      nn.yield ["loss", "grad_norm", "lr", "skipped"] ... }
    ```
  }];
  let dependentDialects = ["::weft::nn::NnDialect"];
  let options = [
    Option<"optimizer", "optimizer", "std::string", "\"adamw\"", "adamw, sgd or lion">,
    Option<"lr", "lr", "double", "3e-4", "peak learning rate">,
    Option<"beta1", "beta1", "double", "0.9", "decay of the first moment; sgd: the momentum">,
    Option<"beta2", "beta2", "double", "0.95", "decay of the second moment">,
    Option<"epsilon", "epsilon", "double", "1e-8", "added to the denominator of adamw">,
    Option<"weightDecay", "weight-decay", "double", "0.1", "decoupled weight decay (sgd: added to the gradient)">,
    Option<"clipGradNorm", "clip-grad-norm", "double", "1.0", "largest global gradient norm; 0: no clipping">,
    ListOption<"noDecay", "no-decay", "std::string", "shell patterns (fnmatch) of parameters that do not decay">,
    ListOption<"groups", "groups", "std::string", "parameter groups, each PATTERN:LR_SCALE:WEIGHT_DECAY, the decay empty for the common rules; the first that matches holds">,
    Option<"schedule", "schedule", "std::string", "\"constant\"", "constant, linear, cosine, wsd or inverse_sqrt">,
    Option<"steps", "steps", "int64_t", "1000", "optimizer steps of the run">,
    Option<"warmupSteps", "warmup-steps", "int64_t", "0", "steps of linear warmup">,
    Option<"decaySteps", "decay-steps", "int64_t", "0", "wsd: steps of the final decay">,
    Option<"minLrRatio", "min-lr-ratio", "double", "0.0", "the schedule's floor, as a share of lr">,
    Option<"reduction", "reduction", "std::string", "\"fast\"", "fast, or canonical: the same bits on every number of data ranks">,
    Option<"lossScaleWindow", "loss-scale-window", "int64_t", "2000", "fp16: finite steps before the loss scale grows">,
    Option<"lossScaleGrowth", "loss-scale-growth", "double", "2.0", "fp16: what the loss scale is multiplied by then">,
    Option<"lossScaleBackoff", "loss-scale-backoff", "double", "0.5", "fp16: what it is multiplied by when gradients overflow">
  ];
}
