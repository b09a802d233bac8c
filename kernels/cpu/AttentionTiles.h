//===- AttentionTiles.h - Attention of bfloat16 by tile registers ---------===//
#ifndef WEFT_KERNELS_CPU_ATTENTIONTILES_H
#define WEFT_KERNELS_CPU_ATTENTIONTILES_H

#include "kernels/common/Kernel.h"
#include "kernels/cpu/AttentionShape.h"

#include <memory>

namespace weft::cpu {

/// True where queries, keys and values are bfloat16 and the instruction set has tiles.
bool takesTiles(const AttentionShape &shape);

std::unique_ptr<Kernel> createTileAttention(const AttentionShape &shape);
std::unique_ptr<Kernel> createTileAttentionBackward(const AttentionShape &shape, const GradientTypes &types);

} // namespace weft::cpu

#endif // WEFT_KERNELS_CPU_ATTENTIONTILES_H
