//===- StepRegion.h - One region for what a program's actions leave and use ---===//
//
// What lives through a step (gradients, prepared values, outputs), what lives in one action and what lives in
// one command share bytes by one timeline: the actions, one behind the other in the order in which they first
// run. So the gradient of a layer lies where activations of the layers behind it were, as far as the order of
// runs allows: a slot is there from the command that computes it to the last that reads it, and wherever an
// action runs in between.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_PASSES_MEMORY_STEPREGION_H
#define WEFT_PASSES_MEMORY_STEPREGION_H

#include "passes/memory/ActionPlan.h"

namespace weft {

/// Whether a slot has its place in the region: inputs have bases of their own, and so has what is in flight.
bool liesInRegion(sched::SlotOp slot);

/// Gives every slot, result and workspace of the program its place, in `base` from `start` on, a multiple of
/// the alignment, and returns where the region ends. `homeOf` knows the places that are none of the region's.
/// Records at the program that end, what is live at the peak, in which action that is, and the bound: the
/// attributes of Memory.h.
mlir::FailureOr<int64_t> planStepRegion(sched::ProgramOp program, KernelCache &kernels,
                                        const HomeLookup &homeOf, llvm::StringRef base, int64_t start);

} // namespace weft

#endif // WEFT_PASSES_MEMORY_STEPREGION_H
