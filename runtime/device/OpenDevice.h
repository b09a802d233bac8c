//===- OpenDevice.h - The devices of this machine -------------------------===//
#ifndef WEFT_RUNTIME_DEVICE_OPENDEVICE_H
#define WEFT_RUNTIME_DEVICE_OPENDEVICE_H

#include "kernels/common/ThreadPool.h"
#include "runtime/device/Device.h"

namespace weft {

/// The pool for all that computes in this process (launch.threads). InvalidArgument unless there are 1 to
/// ThreadPool::kMostThreads threads; ResourceExhausted when the system does not start them.
absl::StatusOr<std::shared_ptr<ThreadPool>> openThreadPool(int64_t threads);

/// The device `cpu` with the kernels of kernels/cpu, for the target that an executable names. The instruction
/// set holds for the whole process: the first call decides. FailedPrecondition, with the command that
/// recompiles, when this machine does not run it or the process already uses another.
absl::StatusOr<std::unique_ptr<Device>> openCpuDevice(const std::string &instructionSet,
                                                      std::shared_ptr<ThreadPool> pool);

} // namespace weft

#endif // WEFT_RUNTIME_DEVICE_OPENDEVICE_H
