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

/// How a variable starts.
struct Initial {
  nn::InitializerKind kind;
  double mean, deviation;

  double value(const InitialValues &random, int64_t index) const {
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
};

template <typename VariableOp> Initial initialOf(VariableOp op) {
  return {op.getInitializer(), op.getMean().convertToDouble(), op.getDeviation().convertToDouble()};
}

LogicalResult addInitialValue(Operation *op, const Initial &initial, uint64_t seed, Variables &variables) {
  StringRef name = SymbolTable::getSymbolName(op).getValue();
  // Every type that the verifier accepts is a tensor of the reference.
  std::optional<TensorType> type = wholeTypeOf(placedType(op));
  absl::StatusOr<Tensor> wide = reference::makeZeros({DType::F64, type->shape});
  if (!wide.ok())
    return op->emitOpError() << std::string(wide.status().message());
  InitialValues random(seed, std::string_view(name));
  for (auto [index, value] : llvm::enumerate(wide->reals))
    value = initial.value(random, static_cast<int64_t>(index));
  absl::StatusOr<Tensor> value = reference::cast(*wide, type->dtype);
  if (!value.ok())
    return op->emitOpError() << std::string(value.status().message());
  reference::roundTo(*value, type->dtype);
  auto [known, isNew] = variables.try_emplace(name.str(), *std::move(value));
  if (isNew || sameBits(known->second, *value))
    return success();
  return op->emitOpError() << "@" << name << " starts with another value or type than on a pipeline "
                           << "rank before: it is one variable, and has one";
}

/// What a cache holds at first is nothing to count on: numbers show who does.
constexpr Initial kCacheAtFirst{nn::InitializerKind::normal, 0.0, 1.0};

} // namespace

FailureOr<Variables> initialVariables(ModuleOp module, uint64_t seed) {
  Variables variables;
  for (ModuleOp own : pipelineModules(module))
    for (Operation &op : *own.getBody()) {
      if (!nn::isVariable(&op))
        continue;
      Initial initial = kCacheAtFirst;
      if (auto parameter = dyn_cast<nn::ParameterOp>(op))
        initial = initialOf(parameter);
      if (auto state = dyn_cast<nn::StateOp>(op))
        initial = initialOf(state);
      if (failed(addInitialValue(&op, initial, seed, variables)))
        return failure();
    }
  return variables;
}

} // namespace weft::interpret
