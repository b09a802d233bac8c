#include "kernels/common/KernelCost.h"

#include <algorithm>
#include <map>

namespace weft {
namespace {

double elementsOf(const TensorType &type) { return static_cast<double>(type.elements()); }

/// The product of the sizes of all letters.
double einsumOperations(const KernelCall &call) {
  const std::string equation = call.textOr("equation", "");
  std::map<char, int64_t> sizes;
  size_t operand = 0, dimension = 0;
  for (char letter : equation.substr(0, equation.find("->"))) {
    if (letter == ',') {
      ++operand, dimension = 0;
    } else if (operand < call.operands.size() && dimension < call.operands[operand].shape.size()) {
      sizes[letter] = call.operands[operand].shape[dimension++];
    }
  }
  double indices = 2;
  for (const auto &[letter, size] : sizes)
    indices *= static_cast<double>(size);
  return indices;
}

/// `products` of queries and the keys that they may see; q is operand `first`, k the next.
double attentionOperations(const KernelCall &call, size_t first, double products) {
  if (call.operands.size() < first + 2 || call.operands[first].shape.size() != 4 ||
      call.operands[first + 1].shape.size() != 4)
    return 0;
  const auto queries = static_cast<double>(call.operands[first].shape[1]);
  const auto keys = static_cast<double>(call.operands[first + 1].shape[1]);
  const auto window = static_cast<double>(call.integerOr("window", 0));
  double seen = keys; // by a query, on average
  if (call.integerOr("causal", 0) == 1)
    seen -= std::min(queries, keys) / 2;
  if (window > 0)
    seen = std::min(seen, window);
  return 2 * products * elementsOf(call.operands[first]) * seen;
}

/// x is operand `first`, w the next.
double headOperations(const KernelCall &call, size_t first, double products) {
  if (call.operands.size() < first + 2 || call.operands[first + 1].shape.empty())
    return 0;
  return 2 * products * elementsOf(call.operands[first]) *
         static_cast<double>(call.operands[first + 1].shape.front());
}

double operationsOf(const KernelCall &call) {
  if (call.name == "einsum")
    return einsumOperations(call);
  if (call.name == "attention")
    return attentionOperations(call, 0, 2);
  if (call.name == "attention_backward")
    return attentionOperations(call, 1, 5);
  if (call.name == "linear_cross_entropy" || call.name == "linear_cross_entropy_statistics")
    return headOperations(call, 0, 1);
  if (call.name == "linear_cross_entropy_backward" || call.name == "linear_cross_entropy_forward_backward")
    return headOperations(call, 2, 3);
  return 0;
}

} // namespace

KernelCost costOf(const KernelCall &call) {
  KernelCost cost{operationsOf(call), 0};
  for (const TensorType &result : call.results)
    cost.bytes += static_cast<double>(result.bytes());
  const bool looksUp = call.name == "gather" || call.name == "slice";
  for (size_t operand = 0; operand < call.operands.size(); ++operand)
    cost.bytes += looksUp && operand == 0 ? static_cast<double>(call.results.front().bytes())
                                          : static_cast<double>(call.operands[operand].bytes());
  return cost;
}

} // namespace weft
