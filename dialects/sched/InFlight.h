//===- InFlight.h - Values that are in flight -------------------------------===//
#ifndef WEFT_DIALECTS_SCHED_INFLIGHT_H
#define WEFT_DIALECTS_SCHED_INFLIGHT_H

#include "dialects/sched/SchedDialect.h"

namespace weft::sched {

/// The slot that a load, store or release names; empty for any other op.
llvm::StringRef slotNamedBy(mlir::Operation *op);

/// Checks that what is in flight is used per microbatch, and that each run that needs a value comes after one
/// that stored it. The rest of the program has been verified. Linear in what its runs load, store and
/// release.
mlir::LogicalResult verifyInFlight(ProgramOp program);

} // namespace weft::sched

#endif // WEFT_DIALECTS_SCHED_INFLIGHT_H
