#include "kernels/common/KernelCost.h"

#include <algorithm>
#include <map>
#include <string_view>

namespace weft {
namespace {

double elementsOf(const TensorType &type) { return static_cast<double>(type.elements()); }

/// The product of the sizes of all letters.
double einsumOperations(const KernelCall &call) {
  if (call.operands.size() < 2)
    return 0; // a sum or a transposition
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
  double operations = 2;
  for (const auto &[letter, size] : sizes)
    operations *= static_cast<double>(size);
  return operations;
}

/// Pairs of a query and a key that it sees, as docs/kernels.md defines them.
double seenPairs(const KernelCall &call, int64_t queries, int64_t keys) {
  const bool causal = call.integerOr("causal", 0) == 1, spread = call.integerOr("has_positions", 0) == 1;
  const int64_t window = std::min(call.integerOr("window", 0), queries + keys);
  double pairs = 0;
  for (int64_t row = 0; row < queries; ++row) {
    const int64_t position = spread ? (row + 1) * keys / queries - 1 : row + keys - queries;
    const int64_t first = window > 0 ? std::max<int64_t>(0, position - window + 1) : 0;
    const int64_t end = causal ? std::min(keys, position + 1) : keys;
    pairs += static_cast<double>(std::max<int64_t>(0, end - first));
  }
  return pairs;
}

/// Products over the depth of q and k, and over the width of v; q is operand `first`, then k and v.
double attentionOperations(const KernelCall &call, size_t first, double overDepth, double overWidth) {
  if (call.operands.size() < first + 3)
    return 0;
  const std::vector<int64_t> &q = call.operands[first].shape, &k = call.operands[first + 1].shape,
                             &v = call.operands[first + 2].shape;
  if (q.size() != 4 || k.size() != 4 || v.size() != 4)
    return 0;
  const double products = overDepth * static_cast<double>(q[3]) + overWidth * static_cast<double>(v[3]);
  return 2 * products * static_cast<double>(q[0]) * static_cast<double>(q[2]) * seenPairs(call, q[1], k[1]);
}

/// x is operand `first`, w the next.
double headOperations(const KernelCall &call, size_t first, double products) {
  if (call.operands.size() < first + 2 || call.operands[first + 1].shape.empty())
    return 0;
  return 2 * products * elementsOf(call.operands[first]) *
         static_cast<double>(call.operands[first + 1].shape.front());
}

double noOperations(const KernelCall & /*call*/) { return 0; }
double attentionForward(const KernelCall &call) { return attentionOperations(call, 0, 1, 1); }
double attentionBackward(const KernelCall &call) { return attentionOperations(call, 1, 3, 2); }
double headForward(const KernelCall &call) { return headOperations(call, 0, 1); }
double headBackward(const KernelCall &call) { return headOperations(call, 2, 3); }

/// Which bytes move.
enum class Moves : uint8_t {
  All,    ///< every operand and result
  Looked, ///< of operand 0 as many as the result has
  Block,  ///< operand 1 is read, and written into operand 0 where it lies
};

struct Row {
  std::string_view name;
  Moves moves = Moves::All;
  double (*operations)(const KernelCall &) = noOperations;
  size_t multiplied = 0; ///< the first of the two operands that products multiply
};

/// Kernels of devices, then those that know their rank, in the order of docs/kernels.md.
constexpr Row kTable[] = {
    {"elementwise"},
    {"einsum", Moves::All, einsumOperations},
    {"reduce"},
    {"cumulative_sum"},
    {"top_k"},
    {"transpose"},
    {"broadcast"},
    {"slice", Moves::Looked},
    {"update_slice", Moves::Block},
    {"concatenate"},
    {"pad"},
    {"gather", Moves::Looked},
    {"scatter_add"},
    {"iota"},
    {"random_uniform"},
    {"copy"},
    {"rms_norm"},
    {"rms_norm_backward"},
    {"layer_norm"},
    {"layer_norm_backward"},
    {"rope"},
    {"attention", Moves::All, attentionForward},
    {"attention_backward", Moves::All, attentionBackward, 1},
    {"attention_merge"},
    {"linear_cross_entropy", Moves::All, headForward},
    {"linear_cross_entropy_statistics", Moves::All, headForward},
    {"linear_cross_entropy_backward", Moves::All, headBackward, 2},
    {"linear_cross_entropy_forward_backward", Moves::All, headBackward, 2},
    {"squared_norm"},
    {"all_gather"},
    {"all_reduce"},
    {"reduce_scatter"},
    {"all_to_all"},
    {"shift"},
    {"send"},
    {"send_wait"},
    {"receive"},
    {"receive_wait"},
    {"rank_slice", Moves::Looked},
    {"rank_offset"},
    {"rank_valid"},
    {"rank_first"},
    {"rank_mask"},
};

double bytesOf(const std::vector<TensorType> &types) {
  double bytes = 0;
  for (const TensorType &type : types)
    bytes += static_cast<double>(type.bytes());
  return bytes;
}

double bytesMoved(const KernelCall &call, Moves moves) {
  const double all = bytesOf(call.operands) + bytesOf(call.results);
  if (moves == Moves::All || call.operands.empty() || call.results.empty())
    return all;
  const auto whole = static_cast<double>(call.operands.front().bytes());
  const auto result = static_cast<double>(call.results.front().bytes());
  if (moves == Moves::Looked)
    return all - whole + result;
  const double block = call.operands.size() > 1 ? static_cast<double>(call.operands[1].bytes()) : 0;
  return all - whole - result + block;
}

DType typeOfProducts(const KernelCall &call, size_t first) {
  if (call.operands.size() < first + 2)
    return DType::F32;
  const DType left = call.operands[first].dtype;
  const auto right =
      static_cast<DType>(call.integerOr("weight_type", static_cast<int64_t>(call.operands[first + 1].dtype)));
  return left == right && (left == DType::BF16 || left == DType::F16) ? left : DType::F32;
}

} // namespace

std::optional<KernelCost> costOf(const KernelCall &call) {
  const Row *row = std::find_if(std::begin(kTable), std::end(kTable),
                                [&](const Row &candidate) { return candidate.name == call.name; });
  if (row == std::end(kTable))
    return std::nullopt;
  return KernelCost{row->operations(call), bytesMoved(call, row->moves),
                    typeOfProducts(call, row->multiplied)};
}

} // namespace weft
