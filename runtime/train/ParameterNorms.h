//===- ParameterNorms.h - Norms of each parameter over one step -----------===//
//
// Two numbers per parameter: the norm of its value after the step, and of what the step changed, folded in
// float64. The copy of the parameters that this takes exists during the watched step only.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TRAIN_PARAMETERNORMS_H
#define WEFT_RUNTIME_TRAIN_PARAMETERNORMS_H

#include "runtime/exec/Executor.h"

#include <string>
#include <utility>
#include <vector>

namespace weft {

class ParameterNorms {
public:
  /// Before the step: copies the parameters.
  explicit ParameterNorms(const Executor &executor);

  /// After it: `weight_norm/NAME` and `update_norm/NAME` of each parameter.
  std::vector<std::pair<std::string, double>> finish() const;

private:
  struct Parameter {
    std::string name;
    HostTensor tensor;
    std::vector<std::byte> before;
  };
  std::vector<Parameter> parameters;
};

} // namespace weft

#endif // WEFT_RUNTIME_TRAIN_PARAMETERNORMS_H
