//===- ParameterNorms.h - Norms of each parameter over one step -----------===//
//
// Three numbers per parameter: the norm of its gradient before clipping, of its value after the step, and of
// what the step changed. The gradients' are read off the commands that compute the global norm, each of which
// is named after its parameter; the others are folded here in float64. On several ranks each part counts
// once: that of the rank which owns it. Of a pipeline every rank gets the norms of all stages. The copy of
// the parameters that this takes exists during the watched step only.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TRAIN_PARAMETERNORMS_H
#define WEFT_RUNTIME_TRAIN_PARAMETERNORMS_H

#include "runtime/comm/Communicator.h"
#include "runtime/exec/Executor.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace weft {

class ParameterNorms {
public:
  /// Before the step: copies the parameters. All ranks watch the same steps.
  ParameterNorms(const Executor &executor, Communicator &communicator);

  /// To be called with each command of the step.
  void observe(const CommandRecord &record);

  /// After it: `gradient_norm/NAME`, `weight_norm/NAME` and `update_norm/NAME` of each parameter, the same on
  /// every rank. `gradNorm` is the step's global norm, which says by what the gradients are still to be
  /// divided.
  absl::StatusOr<std::vector<std::pair<std::string, double>>> finish(double gradNorm) const;

private:
  struct Parameter {
    size_t variable; ///< index into Executable::variables
    HostTensor tensor;
    std::vector<std::byte> before;
    std::optional<double> squaredGradient; ///< of what this rank owns; absent where the program has none
  };
  absl::StatusOr<std::vector<std::string>> namesOnAll() const;
  const TensorPlacement *gradientPlacement(const Variable &parameter, const TensorType &gradient) const;

  int64_t validSums(const KernelCall &call, const TensorPlacement &placement) const;

  const Executable &executable;
  Communicator &communicator;
  std::vector<Parameter> parameters;
};

} // namespace weft

#endif // WEFT_RUNTIME_TRAIN_PARAMETERNORMS_H
