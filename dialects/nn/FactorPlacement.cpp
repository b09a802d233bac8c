#include "dialects/nn/FactorPlacement.h"

#include "mlir/IR/Operation.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace weft::nn {
namespace {
std::optional<FactorPlacement> search(ValueRange values, ArrayRef<SmallVector<DimensionFactors>> terms,
                                      const ShardingRule &rule, int factor) {
  for (auto [value, term] : llvm::zip_equal(values, terms))
    if (dist::Placement placement = dist::placementOf(value))
      for (auto [dimension, factors] : llvm::enumerate(term))
        if (factors == DimensionFactors{factor} && !placement.splits[dimension].axes.empty())
          return FactorPlacement{placement.mesh, placement.splits[dimension], rule.factors[factor].size};
  return std::nullopt;
}
} // namespace

std::optional<FactorPlacement> factorPlacement(Operation *op, const ShardingRule &rule, int factor) {
  if (std::optional<FactorPlacement> found = search(op->getOperands(), rule.operands, rule, factor))
    return found;
  return search(op->getResults(), rule.results, rule, factor);
}

std::optional<FactorPlacement> paddedFactor(Operation *op, const ShardingRule &rule) {
  for (int factor : rule.takesValid)
    if (std::optional<FactorPlacement> at = factorPlacement(op, rule, factor); at && !at->isEven())
      return at;
  return std::nullopt;
}

} // namespace weft::nn
