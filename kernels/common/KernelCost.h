//===- KernelCost.h - What a kernel call must do at least ------------------===//
//
// The operations of a call's matrix products, and the bytes that it reads and writes, each once: what a
// profile holds its time against.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_KERNELS_COMMON_KERNELCOST_H
#define WEFT_KERNELS_COMMON_KERNELCOST_H

#include "kernels/common/KernelCall.h"

namespace weft {

struct KernelCost {
  double operations = 0; ///< multiplications and additions of products; 0 for a kernel without
  double bytes = 0;      ///< of operands and results; of tables, of the rows that are looked up
};

/// * `einsum`: 2 for each index of its letters.
/// * `attention`: 2 products, its backward 5, over the keys that a query may see: half of a square under the
///   causal mask, less with a window. Positions and segments, which are data, are not looked at.
/// * the loss heads: 1 product of rows, words and width, backward 3, both in one pass 3.
KernelCost costOf(const KernelCall &call);

} // namespace weft

#endif // WEFT_KERNELS_COMMON_KERNELCOST_H
