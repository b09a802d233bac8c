#include "compiler/interpret/InputValues.h"

#include "dialects/dist/Placement.h"
#include "dialects/nn/NnDialect.h"
#include "dialects/sched/SchedDialect.h"
#include "kernels/reference/Rounding.h"
#include "runtime/support/InitialValues.h"

#include <algorithm>

using namespace mlir;

namespace weft::interpret {
namespace {

/// Where a kernel has its index operand, and where the table.
struct IndexedKernel {
  StringRef name;
  unsigned index, table;
};
constexpr IndexedKernel kIndexedKernels[] = {{"gather", 1, 0},
                                             {"linear_cross_entropy", 2, 1},
                                             {"linear_cross_entropy_backward", 4, 3},
                                             {"linear_cross_entropy_forward_backward", 4, 3}};

std::optional<int64_t> rowsIndexedBy(sched::LaunchOp launch, unsigned operand) {
  if (launch.getKernel() == "scatter_add" && operand == 0)
    return nn::tensorType(launch.getOutputs()[0]).getDimSize(0);
  for (const IndexedKernel &kernel : kIndexedKernels)
    if (launch.getKernel() == kernel.name && operand == kernel.index)
      return nn::tensorType(launch.getInputs()[kernel.table]).getDimSize(0);
  return std::nullopt;
}

/// The rows of the table that `use` indexes, if it is an index.
std::optional<int64_t> rowsIndexedBy(OpOperand &use) {
  if (auto loss = dyn_cast<nn::LinearCrossEntropyOp>(use.getOwner()))
    if (use.get() == loss.getTargets())
      return dist::wholeShape(nn::tensorType(loss.getWeight()))[0];
  if (auto launch = dyn_cast<sched::LaunchOp>(use.getOwner()))
    return rowsIndexedBy(launch, use.getOperandNumber());
  auto shardable = dyn_cast<nn::ShardingRuleOpInterface>(use.getOwner());
  if (!shardable)
    return std::nullopt;
  nn::ShardingRule rule = shardable.shardingRule();
  for (const nn::ShardingRule::Indices &indices : rule.indices)
    if (indices.operand == static_cast<int>(use.getOperandNumber()))
      return rule.factors[indices.factor].size;
  return std::nullopt;
}

void lowerBound(Value value, std::optional<int64_t> &bound) {
  for (OpOperand &use : value.getUses()) {
    if (std::optional<int64_t> rows = rowsIndexedBy(use))
      bound = std::min(bound.value_or(*rows), *rows);
    if (isa<dist::DistDialect>(use.getOwner()->getDialect()) && !isa<dist::RingOp>(use.getOwner()))
      for (Value moved : use.getOwner()->getResults())
        lowerBound(moved, bound);
  }
}

} // namespace

int64_t integerBound(ArrayRef<Value> values, int64_t otherwise) {
  std::optional<int64_t> bound;
  for (Value value : values)
    lowerBound(value, bound);
  return std::max<int64_t>(1, bound.value_or(otherwise));
}

absl::StatusOr<reference::Tensor> generate(const TensorType &type, const std::string &name, uint64_t seed,
                                           int64_t bound) {
  absl::StatusOr<reference::Tensor> tensor = reference::makeZeros(type);
  if (!tensor.ok())
    return tensor;
  InitialValues random(seed, name);
  for (size_t i = 0; i < tensor->reals.size(); ++i)
    tensor->reals[i] = reference::roundToType(random.normal(static_cast<int64_t>(i)), type.dtype);
  double range = type.dtype == DType::I1 ? 2.0 : static_cast<double>(bound);
  for (size_t i = 0; i < tensor->integers.size(); ++i)
    tensor->integers[i] = static_cast<int64_t>(range * random.uniform(static_cast<int64_t>(i)));
  return tensor;
}

} // namespace weft::interpret
