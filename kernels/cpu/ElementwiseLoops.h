//===- ElementwiseLoops.h - One loop for each instruction and type --------===//
//
// The element-wise kernel holds the values of a block in registers, arrays in the level-1 cache; each
// instruction is one vectorized loop from registers to a register. A register holds bf16, f16 and f32 as
// float, i1 as int32_t 0 or 1, the others as they are. A destination never overlaps a source.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_KERNELS_CPU_ELEMENTWISELOOPS_H
#define WEFT_KERNELS_CPU_ELEMENTWISELOOPS_H

#include "kernels/common/ElementwiseOps.h"

namespace weft::cpu {

/// `count` elements of one instruction; sources that the instruction lacks are null.
using ElementwiseLoop = void (*)(void *result, const void *a, const void *b, const void *c, int64_t count);

/// Memory to register: element i is source[i * stride] (stride in elements; 0 repeats one).
using LoadLoop = void (*)(void *result, const void *source, int64_t stride, int64_t count);

/// Register to memory, contiguous; the values fit the stored type exactly.
using StoreLoop = void (*)(void *result, const void *source, int64_t count);

/// The loops of the instruction set in use. The types are those of a checked program (parseElementwise);
/// `source` is the type of the instruction's last source. The loop rounds to the result type.
ElementwiseLoop findInstructionLoop(ElementwiseOp op, DType result, DType source);
LoadLoop findLoadLoop(DType stored);
StoreLoop findStoreLoop(DType stored);

/// Bytes of one element in a register.
inline int64_t registerByteSize(DType type) { return type == DType::I64 || type == DType::F64 ? 8 : 4; }

/// True when memory of this type can serve as a register as it is.
inline bool isStoredAsRegister(DType type) {
  return type == DType::F32 || type == DType::F64 || type == DType::I32 || type == DType::I64;
}

} // namespace weft::cpu

#endif // WEFT_KERNELS_CPU_ELEMENTWISELOOPS_H
