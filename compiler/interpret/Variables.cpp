#include "compiler/interpret/Variables.h"

#include "compiler/interpret/Ranks.h"
#include "dialects/nn/NnDialect.h"
#include "kernels/reference/Casts.h"
#include "kernels/reference/Rounding.h"
#include "passes/analysis/PipelineModules.h"
#include "runtime/support/InitialValues.h"

using namespace mlir;

namespace weft::interpret {
namespace {

double initialValue(nn::InitializerKind kind, double mean, double deviation, const InitialValues &random,
                    int64_t index) {
  switch (kind) {
  case nn::InitializerKind::constant:
    return mean;
  case nn::InitializerKind::normal:
    return mean + deviation * random.normal(index);
  case nn::InitializerKind::uniform:
    return mean + deviation * (2 * random.uniform(index) - 1);
  }
  return mean;
}

template <typename VariableOp>
LogicalResult addInitialValue(VariableOp op, uint64_t seed, Variables &variables) {
  // Every type that the verifier accepts is a tensor of the reference.
  std::optional<TensorType> type = wholeTypeOf(placedType(op));
  absl::StatusOr<Tensor> wide = reference::makeZeros({DType::F64, type->shape});
  if (!wide.ok())
    return op.emitOpError() << std::string(wide.status().message());
  InitialValues random(seed, std::string_view(op.getSymName()));
  for (auto [index, value] : llvm::enumerate(wide->reals))
    value = initialValue(op.getInitializer(), op.getMean().convertToDouble(),
                         op.getDeviation().convertToDouble(), random, static_cast<int64_t>(index));
  absl::StatusOr<Tensor> value = reference::cast(*wide, type->dtype);
  if (!value.ok())
    return op.emitOpError() << std::string(value.status().message());
  reference::roundTo(*value, type->dtype);
  auto [known, isNew] = variables.try_emplace(op.getSymName().str(), *std::move(value));
  if (isNew || sameBits(known->second, *value))
    return success();
  return op.emitOpError() << "@" << op.getSymName()
                          << " starts with another value or type than on a pipeline "
                          << "rank before: it is one variable, and has one";
}

} // namespace

FailureOr<Variables> initialVariables(ModuleOp module, uint64_t seed) {
  Variables variables;
  for (ModuleOp own : pipelineModules(module))
    for (Operation &op : *own.getBody()) {
      if (auto parameter = dyn_cast<nn::ParameterOp>(op);
          parameter && failed(addInitialValue(parameter, seed, variables)))
        return failure();
      if (auto state = dyn_cast<nn::StateOp>(op); state && failed(addInitialValue(state, seed, variables)))
        return failure();
    }
  return variables;
}

} // namespace weft::interpret
