#include "passes/analysis/KernelCache.h"

#include "kernels/collective/Collective.h"
#include "kernels/cpu/Cpu.h"

namespace weft {

const Kernel *KernelCache::lookup(sched::LaunchOp launch) {
  auto [found, inserted] = kernels.try_emplace(identityOf(launch));
  if (!inserted)
    return found->second.get();
  KernelCall call = kernelCallOf(launch);
  absl::StatusOr<std::unique_ptr<Kernel>> kernel =
      isRankKernel(call.name) ? createRankKernel(call, nullptr) : cpu::createKernel(call);
  if (!kernel.ok()) {
    launch.emitOpError() << "cannot run on the CPU: " << std::string(kernel.status().message());
    return nullptr;
  }
  found->second = *std::move(kernel);
  return found->second.get();
}

} // namespace weft
