//===- RunOnRanks.h - The ranks of a program, each on its thread ----------===//
//
// Virtual ranks are threads of this process: each with its device, its memory, and its end of one local
// group. Whatever the number of ranks, the same code runs on each. The first of them to fail ends the group,
// so no other waits for it, and its failure is the one that is told. A rank that then does not come back,
// since its thread is frozen, ends with the process.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TRAIN_RUNONRANKS_H
#define WEFT_RUNTIME_TRAIN_RUNONRANKS_H

#include "runtime/comm/Communicator.h"
#include "runtime/config/Config.h"
#include "runtime/exec/Executor.h"

#include <functional>
#include <memory>

namespace weft {

using RankBody = std::function<absl::Status(Executor &executor, Communicator &communicator)>;
/// What stands between a rank and its group; trials let ranks die and freeze there.
using CommunicatorWrapper = std::function<std::unique_ptr<Communicator>(std::unique_ptr<Communicator>)>;

/// Seconds that ranks have to return after one has failed. Then the process ends, with the failure's message
/// and exit code.
inline constexpr double kSecondsToReturn = 5;

/// Calls `body` once for each rank of the executable's mesh, with `threads` threads that compute; returns
/// when all have returned. An executable that does not run here has the exit code of the config.
absl::Status runOnRanks(Executable executable, int threads, const RankBody &body,
                        const CommunicatorWrapper &wrap = nullptr);

/// Refuses a program that was compiled for other ranks than the config asks for.
absl::Status checkMesh(const Executable &executable, const Config &config);

} // namespace weft

#endif // WEFT_RUNTIME_TRAIN_RUNONRANKS_H
