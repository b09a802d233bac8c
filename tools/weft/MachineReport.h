//===- MachineReport.h - What this machine has for training, and lacks ----===//
//
// Facts about the processor, memory, GPUs, libraries and programs, each as one finding: what it is for, what
// was found, and when it is missing the command that installs it. Nothing here fails: what cannot be read is
// a finding without a value. Files are read below `root` ("/" for this machine), so another machine's /proc
// and /sys can be examined too.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_MACHINEREPORT_H
#define WEFT_TOOLS_WEFT_MACHINEREPORT_H

#include <filesystem>
#include <string>
#include <vector>

namespace weft {

enum class Presence {
  Found,    ///< there; `value` says what
  Absent,   ///< not there, and only some uses need it
  Required, ///< not there, and no training runs without it
};

struct Finding {
  std::string section;
  std::string name;
  std::string value;
  Presence presence = Presence::Found;
  /// What it is for; shown when it is not there.
  std::string purpose;
  /// The command that installs it, or empty when none can.
  std::string install;
};

/// Processor: model, instruction set (the highest of AVX2, AVX512, AVX512_BF16, AMX_BF16), cores, affinity of
/// this process, the share of a container, NUMA nodes.
std::vector<Finding> examineProcessor(const std::filesystem::path &root);

/// Memory: total, available, the limit of the control group, huge pages, shared memory.
std::vector<Finding> examineMemory(const std::filesystem::path &root);

/// GPUs, as the NVIDIA driver reports them (libcuda.so.1, loaded now).
std::vector<Finding> examineGpus();

/// Libraries with their versions, asked of the libraries themselves: oneDNN, Highway, MPI, MLIR.
std::vector<Finding> examineLibraries();

/// Programs: weft-compile (beside this program, else on `searchPath`), a linker for generated kernels,
/// mpirun.
std::vector<Finding> examinePrograms(const std::string &searchPath);

/// GFLOP/s of square products on all processors that this process may use, by type and size: measured now, by
/// the kernel that models' products use, about half a second each.
std::vector<Finding> measureProducts();

/// All of the above for this machine but what is measured.
std::vector<Finding> examineMachine();

/// True when no required finding is missing.
bool canTrain(const std::vector<Finding> &findings);

/// A table by section, then what is missing with the commands that install it.
std::string reportText(const std::vector<Finding> &findings);

/// {"can_train": ..., "findings": [{section, name, value, presence, purpose, install}]}; value is null when
/// absent.
std::string reportJson(const std::vector<Finding> &findings);

} // namespace weft

#endif // WEFT_TOOLS_WEFT_MACHINEREPORT_H
