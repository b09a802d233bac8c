#include "tools/weft-run/Generate.h"

#include "dialects/nn/NnDialect.h"
#include "kernels/reference/Rounding.h"
#include "runtime/support/InitialValues.h"

#include <algorithm>

using namespace mlir;

namespace weft::run {
namespace {

/// The rows of the table that `use` indexes, if it is an index.
std::optional<int64_t> rowsIndexedBy(OpOperand &use) {
  if (auto gather = dyn_cast<nn::GatherOp>(use.getOwner()))
    if (use.get() == gather.getIndices())
      return nn::tensorType(gather.getTable()).getDimSize(0);
  if (auto scatter = dyn_cast<nn::ScatterAddOp>(use.getOwner()))
    if (use.get() == scatter.getIndices())
      return nn::tensorType(scatter.getResult()).getDimSize(0);
  if (auto loss = dyn_cast<nn::LinearCrossEntropyOp>(use.getOwner()))
    if (use.get() == loss.getTargets())
      return nn::tensorType(loss.getWeight()).getDimSize(0);
  return std::nullopt;
}

} // namespace

int64_t integerBound(ArrayRef<Value> values, int64_t otherwise) {
  std::optional<int64_t> bound;
  for (Value value : values)
    for (OpOperand &use : value.getUses())
      if (std::optional<int64_t> rows = rowsIndexedBy(use))
        bound = std::min(bound.value_or(*rows), *rows);
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

} // namespace weft::run
