//===- AttentionWork.h - What attention costs each rank ------------------------===//
//
// Ranks that have different queries see different numbers of keys: with a causal mask the last ones see most.
// Counted here from positions alone, before anything runs: the pairs of a query and a key that is visible to
// it, of every rank.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_ATTENTIONWORK_H
#define WEFT_COMPILER_ATTENTIONWORK_H

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace weft {

/// A line for each kind of attention of the placed module's steps and functions: how many there are, how
/// their queries are split, and the FLOPs of the ranks that have least and most to do. Empty if there is no
/// attention.
std::string explainAttentionWork(mlir::ModuleOp module);

} // namespace weft

#endif // WEFT_COMPILER_ATTENTIONWORK_H
