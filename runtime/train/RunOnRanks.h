//===- RunOnRanks.h - The ranks of a program that are here ----------------===//
//
// All of them, each on its thread and with its end of one local group; or one, where ranks are processes.
// Each has its device and its memory, and runs its part of the job. The first to fail ends the group, so no
// other waits for it, and its failure is the one that is told. A thread that then does not come back, since
// it is frozen, ends with the process.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TRAIN_RUNONRANKS_H
#define WEFT_RUNTIME_TRAIN_RUNONRANKS_H

#include "kernels/common/ThreadPool.h"
#include "runtime/comm/Communicator.h"
#include "runtime/config/Config.h"
#include "runtime/exec/Executor.h"

#include <functional>
#include <memory>
#include <vector>

namespace weft {

using RankBody = std::function<absl::Status(Executor &executor, Communicator &communicator)>;
/// What stands between a rank and its group; trials let ranks die and freeze there.
using CommunicatorWrapper = std::function<std::unique_ptr<Communicator>(std::unique_ptr<Communicator>)>;

/// Seconds that ranks have to return after one has failed. Then the process ends, with the failure's message
/// and exit code.
inline constexpr double kSecondsToReturn = 5;

/// Calls `body` once for each rank of the job's mesh, with its part; all of them compute on `pool`. Returns
/// when all have returned. With the communicator of a process, that is the one rank whose end it is.
/// A part that does not run here has the exit code of the config.
absl::Status runOnRanks(std::vector<Executable> parts, std::shared_ptr<ThreadPool> pool, const RankBody &body,
                        Communicator *process = nullptr, const CommunicatorWrapper &wrap = nullptr);

/// Whether all ranks end so after the same step, each by itself: nobody has to be told.
bool isEndOfAll(const absl::Status &status);

/// Refuses a program that was compiled for other ranks than the config asks for.
absl::Status checkMesh(const Executable &executable, const Config &config);

} // namespace weft

#endif // WEFT_RUNTIME_TRAIN_RUNONRANKS_H
