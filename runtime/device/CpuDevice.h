//===- CpuDevice.h - The device `cpu` -------------------------------------===//
//
// Streams are threads, whose kernels run on the pool that all devices of a process share; memory is
// anonymous, in huge pages where the system grants them. Which kernels there are is the caller's:
// OpenDevice.h passes those of kernels/cpu.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_DEVICE_CPUDEVICE_H
#define WEFT_RUNTIME_DEVICE_CPUDEVICE_H

#include "kernels/common/GeneratedKernel.h"
#include "kernels/common/ThreadPool.h"
#include "runtime/device/Device.h"

#include <functional>
#include <memory>

namespace weft {

/// The kernel of a call; the function is that of a call that names a symbol, null for any other.
using KernelFactory =
    std::function<absl::StatusOr<std::unique_ptr<Kernel>>(const KernelCall &, GeneratedFunction *)>;

struct CpuDeviceOptions {
  std::string instructionSet;
  std::shared_ptr<ThreadPool> pool; ///< of all that computes in this process
  KernelFactory kernels;
};

std::unique_ptr<Device> createCpuDevice(CpuDeviceOptions options);

} // namespace weft

#endif // WEFT_RUNTIME_DEVICE_CPUDEVICE_H
