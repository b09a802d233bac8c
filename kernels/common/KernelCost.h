//===- KernelCost.h - What a kernel call must do at least ------------------===//
//
// The operations of a call's matrix products, and the bytes that it reads and writes, each once: what a
// profile holds its time against. One table has a row for every kernel.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_KERNELS_COMMON_KERNELCOST_H
#define WEFT_KERNELS_COMMON_KERNELCOST_H

#include "kernels/common/KernelCall.h"

#include <optional>

namespace weft {

struct KernelCost {
  double operations = 0; ///< multiplications and additions of products; 0 for a kernel without
  double bytes = 0;      ///< of operands and results; of tables, of the rows that are looked up
  /// What the products multiply: BF16 or F16 where both sides are, else F32.
  DType multiplied = DType::F32;
};

/// None for a name that the table lacks.
///
/// * `einsum`: 2 for each index of its letters.
/// * `attention`: 2 products, its backward 5, over the pairs of a query and a key that it sees: what the
///   causal mask and the window hide is not counted. Positions are data: with them queries count as spread
///   evenly over the keys. Segments are not looked at.
/// * the loss heads: 1 product of rows, words and width, backward 3, both in one pass 3.
std::optional<KernelCost> costOf(const KernelCall &call);

} // namespace weft

#endif // WEFT_KERNELS_COMMON_KERNELCOST_H
