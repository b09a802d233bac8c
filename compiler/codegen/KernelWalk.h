//===- KernelWalk.h - How a generated kernel goes over its space -----------===//
//
// The iteration space of an element-wise program with as few dimensions as all of its operands allow. A space
// that is one line needs no sizes in the code, so programs that differ in those alone are one kernel.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_CODEGEN_KERNELWALK_H
#define WEFT_COMPILER_CODEGEN_KERNELWALK_H

#include "kernels/common/ElementwiseOps.h"

#include <string>

namespace weft {

struct KernelWalk {
  std::vector<int64_t> sizes;                ///< outermost first, at least one
  std::vector<std::vector<int64_t>> strides; ///< of each operand: elements, one for each size

  bool isLine() const { return sizes.size() == 1; }
  /// Whether the operand is one element for the whole space.
  bool isScalar(size_t operand) const;
};

KernelWalk walkOf(const ElementwiseProgram &program);

/// Equal for programs that one function serves: all that its code depends on.
std::string structureOf(const ElementwiseProgram &program, const KernelWalk &walk);

} // namespace weft

#endif // WEFT_COMPILER_CODEGEN_KERNELWALK_H
