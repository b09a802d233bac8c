//===- OpenDevice.h - The devices of this machine -------------------------===//
#ifndef WEFT_RUNTIME_DEVICE_OPENDEVICE_H
#define WEFT_RUNTIME_DEVICE_OPENDEVICE_H

#include "runtime/device/Device.h"

namespace weft {

/// The device `cpu` with the kernels of kernels/cpu, for the target that an executable names. The instruction
/// set holds for the whole process: the first call decides. FailedPrecondition, with the command that
/// recompiles, when this machine does not run it or the process already uses another.
absl::StatusOr<std::unique_ptr<Device>> openCpuDevice(const std::string &instructionSet, int threads);

} // namespace weft

#endif // WEFT_RUNTIME_DEVICE_OPENDEVICE_H
