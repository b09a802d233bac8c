//===- CpuDevice.h - The device `cpu` -------------------------------------===//
//
// Streams are threads, each with a pool of its own for its kernels; memory is anonymous, in huge pages where
// the system grants them. Which kernels there are is the caller's: OpenDevice.h passes those of kernels/cpu.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_DEVICE_CPUDEVICE_H
#define WEFT_RUNTIME_DEVICE_CPUDEVICE_H

#include "kernels/common/GeneratedKernel.h"
#include "runtime/device/Device.h"

#include <functional>

namespace weft {

/// The kernel of a call; the function is that of a call that names a symbol, null for any other.
using KernelFactory =
    std::function<absl::StatusOr<std::unique_ptr<Kernel>>(const KernelCall &, GeneratedFunction *)>;

struct CpuDeviceOptions {
  std::string instructionSet;
  int threads = 1; ///< 1 to 128, per stream; the stream's own thread is one of them
  KernelFactory kernels;
};

/// InvalidArgument when threads are out of range.
absl::StatusOr<std::unique_ptr<Device>> createCpuDevice(CpuDeviceOptions options);

} // namespace weft

#endif // WEFT_RUNTIME_DEVICE_CPUDEVICE_H
