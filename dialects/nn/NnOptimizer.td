//===- NnOptimizer.td - Optimizer updates ------------------------------------===//
include "dialects/nn/NnBase.td"

def AdamwOp : NnOp<"adamw", [Pure, NnDecomposable, NnShardable, NnCosted]> {
  let hasVerifier = 1;
  let summary = "One AdamW update (arXiv:1711.05101).";
  let description = [{
    p <- p (1 - lr weight_decay); m <- beta1 m + (1 - beta1) g; v <- beta2 v + (1 - beta2) g^2;
    p <- p - lr / correction1 * m / (sqrt(v) / sqrt(correction2) + epsilon), where correction_i = 1 - beta_i^t is given.

    Example:
    ```mlir
    %p1, %m1, %v1 = nn.adamw %p, %g, %m, %v, %lr, %c1, %c2 {beta1 = 0.9, beta2 = 0.95, epsilon = 1.0e-8, weight_decay = 0.1}
      : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
    ```

    Constraints: parameter, gradient and both moments have one type; the scalars have one type.
  }];
  let arguments = (ins NnFloatTensor:$parameter, NnFloatTensor:$gradient, NnFloatTensor:$first_moment,
                       NnFloatTensor:$second_moment, NnFloatTensor:$learning_rate, NnFloatTensor:$correction1,
                       NnFloatTensor:$correction2, F64Attr:$beta1, F64Attr:$beta2, F64Attr:$epsilon,
                       F64Attr:$weight_decay);
  let results = (outs NnFloatTensor:$new_parameter, NnFloatTensor:$new_first_moment, NnFloatTensor:$new_second_moment);
  let assemblyFormat = [{
    $parameter `,` $gradient `,` $first_moment `,` $second_moment `,` $learning_rate `,` $correction1 `,` $correction2
    attr-dict `:` functional-type(operands, results)
  }];
}

def SgdOp : NnOp<"sgd", [Pure, NnDecomposable, NnShardable, NnCosted]> {
  let hasVerifier = 1;
  let summary = "One step of gradient descent with momentum.";
  let description = [{
    g <- g + weight_decay p; m <- momentum m + g; p <- p - lr m. (PyTorch's convention, without dampening.)

    Example:
    ```mlir
    %p1, %m1 = nn.sgd %p, %g, %m, %lr {momentum = 0.9, weight_decay = 0.0} : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>)
    ```

    Constraints: parameter, gradient and momentum have one type; the learning rate is a scalar.
  }];
  let arguments = (ins NnFloatTensor:$parameter, NnFloatTensor:$gradient, NnFloatTensor:$first_moment,
                       NnFloatTensor:$learning_rate, F64Attr:$momentum, F64Attr:$weight_decay);
  let results = (outs NnFloatTensor:$new_parameter, NnFloatTensor:$new_first_moment);
  let assemblyFormat = [{
    $parameter `,` $gradient `,` $first_moment `,` $learning_rate attr-dict `:` functional-type(operands, results)
  }];
}

def LionOp : NnOp<"lion", [Pure, NnDecomposable, NnShardable, NnCosted]> {
  let hasVerifier = 1;
  let summary = "One Lion update (arXiv:2302.06675).";
  let description = [{
    u = sign(beta1 m + (1 - beta1) g); p <- p (1 - lr weight_decay) - lr u; m <- beta2 m + (1 - beta2) g.

    Example:
    ```mlir
    %p1, %m1 = nn.lion %p, %g, %m, %lr {beta1 = 0.9, beta2 = 0.99, weight_decay = 0.1} : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>)
    ```

    Constraints: parameter, gradient and momentum have one type; the learning rate is a scalar.
  }];
  let arguments = (ins NnFloatTensor:$parameter, NnFloatTensor:$gradient, NnFloatTensor:$first_moment,
                       NnFloatTensor:$learning_rate, F64Attr:$beta1, F64Attr:$beta2, F64Attr:$weight_decay);
  let results = (outs NnFloatTensor:$new_parameter, NnFloatTensor:$new_first_moment);
  let assemblyFormat = [{
    $parameter `,` $gradient `,` $first_moment `,` $learning_rate attr-dict `:` functional-type(operands, results)
  }];
}
