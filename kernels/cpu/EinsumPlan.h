//===- EinsumPlan.h - An einsum as matrix products ------------------------===//
//
// Each letter of an equation is a batch, row, column or summed letter. A plan chooses which letters form the
// rows, the columns and the sum of one matrix product, loops over the others, and decides which tensors must
// be packed first because a product cannot address them as they lie. All plans are priced; the cheapest wins,
// by shape and types alone.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_KERNELS_CPU_EINSUMPLAN_H
#define WEFT_KERNELS_CPU_EINSUMPLAN_H

#include "kernels/common/KernelCall.h"
#include "kernels/cpu/MatrixProduct.h"

#include <array>

namespace weft::cpu {

/// A tensor brought into another layout and type: the packed tensor's dimensions, outermost first, with the
/// strides of the tensor as it lies (0 where it is repeated).
struct EinsumPacking {
  std::vector<int64_t> shape, strides;
  int64_t elements = 0;
};

/// One dimension looped over around the products; strides in elements of each matrix's memory.
struct EinsumLoop {
  int64_t size = 1;
  int64_t left = 0, right = 0, result = 0;
};

struct EinsumPlan {
  DType compute = DType::F32;  ///< what sums are taken in: F64 for float64 results
  DType operands = DType::F32; ///< what products take: the type of sums, or BF16
  bool exchanged = false;      ///< the left matrix is operand 1
  int64_t m = 1, n = 1, k = 1;
  MatrixStrides left, right;
  int64_t resultRow = 1;
  std::vector<EinsumLoop> loops;
  /// A result that is not packed is of the call's type: what is narrower than sums is rounded tile by tile.
  bool packsLeft = false, packsRight = false, packsResult = false;
  EinsumPacking leftPacking, rightPacking, resultPacking;

  int64_t products() const {
    int64_t count = 1;
    for (const EinsumLoop &loop : loops)
      count *= loop.size;
    return count;
  }
};

/// InvalidArgument when the equation, shapes or types do not fit one another.
absl::StatusOr<EinsumPlan> planEinsum(const KernelCall &call);

} // namespace weft::cpu

#endif // WEFT_KERNELS_CPU_EINSUMPLAN_H
