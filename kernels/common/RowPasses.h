//===- RowPasses.h - How a program with reductions goes over a row ----------===//
//
// A value that depends on a sum over the row cannot be computed before the row has been read: such a program
// reads each row several times. Pass p computes what the reductions of depth p reduce; the last pass also
// computes and stores every result that has the whole shape. So no result is written before all passes but
// the last are through, and a value is computed again in each pass that needs it, or kept by whoever runs it.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_KERNELS_COMMON_ROWPASSES_H
#define WEFT_KERNELS_COMMON_ROWPASSES_H

#include "kernels/common/ElementwiseOps.h"

#include <vector>

namespace weft {

/// Of each register, whether all elements of a row have one value of it: constants, operands that do not move
/// along the innermost dimension, reductions, and what is made of these alone.
std::vector<bool> repeatedInRows(const ElementwiseProgram &program);

struct RowPasses {
  struct Pass {
    std::vector<int32_t> rowInstructions; ///< before the pass, once a row; ascending, as are the others
    std::vector<int32_t> instructions;    ///< of each element
    std::vector<int32_t> kept;            ///< what an earlier pass has computed and kept of each element
    std::vector<int32_t> reductions;      ///< what is complete when the pass ends
  };
  std::vector<Pass> passes;
  std::vector<int32_t> rowInstructionsAtEnd; ///< what depends on the last pass's reductions
  std::vector<bool> isRepeated;              ///< repeatedInRows
};

/// All numbers are of instructions, not of registers. What `keeps` names (by instruction; empty: nothing) is
/// computed in the first pass that needs it alone.
RowPasses rowPassesOf(const ElementwiseProgram &program, const std::vector<bool> &keeps = {});

} // namespace weft

#endif // WEFT_KERNELS_COMMON_ROWPASSES_H
