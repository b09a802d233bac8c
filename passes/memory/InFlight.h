//===- InFlight.h - Places of values in flight --------------------------------===//
//
// A slot in flight has a value for each microbatch, from the run that stores it to the last that needs it.
// All such values of a program lie in one region; two of them share bytes only where one is over before the
// other begins. Slots whose values begin and end in the same runs are one block: their values of a microbatch
// lie side by side.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_PASSES_MEMORY_INFLIGHT_H
#define WEFT_PASSES_MEMORY_INFLIGHT_H

#include "dialects/sched/SchedDialect.h"

#include "mlir/Support/LLVM.h"

#include <string>

namespace weft {

/// Slots that live alike.
struct InFlightBlock {
  std::string base; ///< the name of its `sched.base`
  std::string what; ///< `from 0F to 0B`: the actions of the first microbatch in which it begins and ends
  llvm::SmallVector<sched::SlotOp> slots;
  int64_t bytes = 0;                  ///< of one microbatch
  llvm::SmallVector<int64_t> offsets; ///< in the region, by microbatch
};

struct InFlightPlan {
  llvm::SmallVector<InFlightBlock> blocks;
  int64_t bytes = 0;      ///< of the region
  int64_t lowerBound = 0; ///< the most bytes that are needed in one run
  /// What those are, largest first: how many microbatches of which block.
  llvm::SmallVector<std::pair<std::string, int64_t>> peak;
};

/// Sets the places of the slots in flight of `program`, relative to their blocks.
mlir::FailureOr<InFlightPlan> planInFlight(sched::ProgramOp program);

} // namespace weft

#endif // WEFT_PASSES_MEMORY_INFLIGHT_H
