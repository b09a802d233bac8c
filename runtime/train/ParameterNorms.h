//===- ParameterNorms.h - Norms of each parameter over one step -----------===//
//
// Three numbers per parameter: the norm of its gradient before clipping, of its value after the step, and of
// what the step changed. The gradients' are read off the commands that compute the global norm, each of which
// is named after its parameter; the others are folded here in float64. The copy of the parameters that this
// takes exists during the watched step only.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TRAIN_PARAMETERNORMS_H
#define WEFT_RUNTIME_TRAIN_PARAMETERNORMS_H

#include "runtime/exec/Executor.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace weft {

class ParameterNorms {
public:
  /// Before the step: copies the parameters.
  explicit ParameterNorms(const Executor &executor);

  /// To be called with each command of the step.
  void observe(const CommandRecord &record);

  /// After it: `gradient_norm/NAME`, `weight_norm/NAME` and `update_norm/NAME` of each parameter. `gradNorm`
  /// is the step's global norm, which says by what the gradients are still to be divided.
  std::vector<std::pair<std::string, double>> finish(double gradNorm) const;

private:
  struct Parameter {
    std::string name;
    HostTensor tensor;
    std::vector<std::byte> before;
    std::optional<double> squaredGradient; ///< absent in a program that does not compute it
  };
  std::vector<Parameter> parameters;
};

} // namespace weft

#endif // WEFT_RUNTIME_TRAIN_PARAMETERNORMS_H
