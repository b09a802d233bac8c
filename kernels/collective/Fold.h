//===- Fold.h - Reductions over the ranks of a group ----------------------===//
//
// One element after the other: the first rank's value, then each further rank's combined into it, in the
// element type; bf16 and f16 are combined in float32 and rounded once at the end. Integer sums wrap. A NaN
// wins over numbers in maxima and minima. A log-sum-exp, log(exp(a) + exp(b)), is combined as
// max + log1p(exp(min - max)), which neither overflows nor loses the smaller one early.
//
// `tree` is a sum whose additions are those of a fixed binary tree: that of an even number of ranks is the
// tree of the first half plus that of the second, an odd number is added one after another. Each addition is
// rounded to the element type, so that what a rank has folded of its own leaves by the same rule is a
// subtree.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_KERNELS_COLLECTIVE_FOLD_H
#define WEFT_KERNELS_COLLECTIVE_FOLD_H

#include "kernels/common/Types.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace weft {

enum class ReduceKind : uint8_t { Sum, Max, Min, LogSumExp, Tree };
std::string_view name(ReduceKind kind);
std::optional<ReduceKind> reduceKindFromName(std::string_view name);

/// Writes `count` elements to `result` (its first element): the fold of those from byte `offset` of each
/// source, in the order of the sources, of which there is at least one. `result` may be where one of the
/// sources is read.
using FoldFunction = void (*)(std::span<const void *const> sources, int64_t offset, void *result,
                              int64_t count);

/// Null where there is no such reduction: i1 has no sum, and only floats have a log-sum-exp.
FoldFunction findFold(ReduceKind kind, DType type);

} // namespace weft

#endif // WEFT_KERNELS_COLLECTIVE_FOLD_H
