//===- LinearCrossEntropyTiles.h - Cross-entropy of x w^T by tile registers ===//
#ifndef WEFT_KERNELS_CPU_LINEARCROSSENTROPYTILES_H
#define WEFT_KERNELS_CPU_LINEARCROSSENTROPYTILES_H

#include "kernels/cpu/LinearCrossEntropyLaunch.h"
#include "kernels/cpu/Registry.h"

namespace weft::cpu {

/// A kernel of `direction` for x and w of bfloat16, where multipliesByTiles().
KernelOrError createLinearCrossEntropyTiles(LossDirection direction, const LinearCrossEntropyShape &shape);

} // namespace weft::cpu

#endif // WEFT_KERNELS_CPU_LINEARCROSSENTROPYTILES_H
