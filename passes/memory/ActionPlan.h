//===- ActionPlan.h - Places inside one action --------------------------------===//
#ifndef WEFT_PASSES_MEMORY_ACTIONPLAN_H
#define WEFT_PASSES_MEMORY_ACTIONPLAN_H

#include "dialects/sched/SchedDialect.h"
#include "kernels/common/Kernel.h"
#include "passes/analysis/KernelCalls.h"

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/DenseMap.h"

#include <functional>
#include <memory>

namespace weft {

/// Kernels by their calls; each is created once.
class KernelCache {
public:
  /// The kernel of a launch; null, with a diagnostic at the launch, when the device refuses the call.
  const Kernel *lookup(sched::LaunchOp launch);

private:
  llvm::DenseMap<CallIdentity, std::unique_ptr<Kernel>> kernels;
};

/// The place of a slot or variable, by the op that names it (load, store, read, write).
using PlaceLookup = llvm::function_ref<sched::PlaceAttr(mlir::Operation *)>;

struct ActionUse {
  int64_t scratchBytes = 0;
  int64_t workspaceBytes = 0;
};

/// Sets the places of every launch of `action`, and adds copies for stores that could not be computed in
/// place.
mlir::FailureOr<ActionUse> planAction(sched::ActionOp action, KernelCache &kernels, PlaceLookup placeOf);

} // namespace weft

#endif // WEFT_PASSES_MEMORY_ACTIONPLAN_H
