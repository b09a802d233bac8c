//===- MachineMemory.h - How much memory a job may have -------------------===//
#ifndef WEFT_RUNTIME_TRAIN_MACHINEMEMORY_H
#define WEFT_RUNTIME_TRAIN_MACHINEMEMORY_H

#include <cstdint>
#include <filesystem>

namespace weft {

/// What launch.memory_limit: auto means, in bytes: the lowest limit of the process's control groups (versions
/// 1 and 2), else the physical memory; INT64_MAX when neither can be read. Files are read below `root`.
int64_t machineMemoryLimit(const std::filesystem::path &root = "/");

} // namespace weft

#endif // WEFT_RUNTIME_TRAIN_MACHINEMEMORY_H
