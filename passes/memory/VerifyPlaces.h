//===- VerifyPlaces.h - A plan of memory, held against its program ------------===//
//
// Says whether every value is still where it lies when it is read. It knows nothing of lifetimes, nor of how
// places were found: it follows which bytes every command writes, action by action, and then the order in
// which actions run. What shares the region of values in flight is held against the order of runs by the
// verifier of executables (runtime/executable).
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_PASSES_MEMORY_VERIFYPLACES_H
#define WEFT_PASSES_MEMORY_VERIFYPLACES_H

#include "mlir/IR/BuiltinOps.h"

namespace weft {

/// Of a module behind the memory phase. Fails, with a diagnostic at the op that would read, store, keep or
/// send other bytes than its value's and a note at what wrote them, unless
/// * every operand of a launch and a copy holds its value when the command begins, whatever commands of the
///   action wrote before, and every result and stored value lies where it should when the action ends;
/// * every slot that a run loads has not been written over by another action since it was stored;
/// * outputs hold their values when the program ends, so do variables, and, in programs that name a cache,
/// all
///   caches;
/// * nothing writes what `send` or `receive` has begun to transfer before the wait that is for it.
mlir::LogicalResult verifyPlaces(mlir::ModuleOp module);

} // namespace weft

#endif // WEFT_PASSES_MEMORY_VERIFYPLACES_H
