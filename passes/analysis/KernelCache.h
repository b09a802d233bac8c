//===- KernelCache.h - The kernels of launches ------------------------------===//
#ifndef WEFT_PASSES_ANALYSIS_KERNELCACHE_H
#define WEFT_PASSES_ANALYSIS_KERNELCACHE_H

#include "dialects/sched/SchedDialect.h"
#include "kernels/common/Kernel.h"
#include "passes/analysis/KernelCalls.h"

#include "llvm/ADT/DenseMap.h"

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

} // namespace weft

#endif // WEFT_PASSES_ANALYSIS_KERNELCACHE_H
