//===- RunOnRanks.cpp - The ranks of a program that are here --------------===//
//
// Devices are opened one after another, before any rank runs: the first one sets what the whole process uses
// of the processor. Rank 0 runs on the caller's thread.
//
//===----------------------------------------------------------------------===//
#include "runtime/train/RunOnRanks.h"

#include "runtime/comm/LocalCommunicator.h"
#include "runtime/comm/MeshContext.h"
#include "runtime/config/ConfigMesh.h"
#include "runtime/device/OpenDevice.h"
#include "runtime/support/ExitCode.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <limits>
#include <mutex>
#include <system_error>
#include <thread>

namespace weft {
namespace {

/// The ranks on their way: what each takes, and the first failure of all.
struct Ranks {
  std::vector<std::unique_ptr<Communicator>> communicators;
  std::vector<std::unique_ptr<Device>> devices;
  std::vector<Executable> executables;
  std::mutex mutex;
  absl::Status firstFailure;
};

absl::Status runRank(Executable executable, Device &device, Communicator &communicator,
                     const RankBody &body) {
  std::unique_ptr<RankContext> context;
  if (communicator.size() > 1) {
    absl::StatusOr<std::unique_ptr<RankContext>> created = createRankContext(executable.mesh, communicator);
    if (!created.ok())
      return created.status();
    context = *std::move(created);
  }
  absl::StatusOr<std::unique_ptr<Executor>> executor =
      Executor::create(std::move(executable), device, context.get());
  if (!executor.ok())
    return withExitCode(executor.status(), ExitCode::Config);
  return body(**executor, communicator);
}

/// A rank from its start to its leaving. Its failure is noted before any other can fail because of it.
void runRankToItsEnd(Ranks &ranks, size_t rank, const RankBody &body) {
  absl::Status status =
      runRank(std::move(ranks.executables[rank]), *ranks.devices[rank], *ranks.communicators[rank], body);
  if (!status.ok()) {
    {
      std::lock_guard lock(ranks.mutex);
      ranks.firstFailure.Update(status);
    }
    ranks.communicators[rank]->abort(std::move(status));
  }
  ranks.communicators[rank].reset();
}

/// Starts all ranks but the first, or as many as the machine lets.
absl::Status startOthers(Ranks &ranks, const RankBody &body, std::vector<std::thread> &others) {
  const size_t count = ranks.communicators.size();
  try {
    for (size_t rank = 1; rank < count; ++rank)
      others.emplace_back([&ranks, rank, &body] { runRankToItsEnd(ranks, rank, body); });
  } catch (const std::system_error &error) {
    return absl::ResourceExhaustedError(absl::StrCat("the thread of rank ", others.size() + 1, " of ", count,
                                                     " cannot be started: ", error.what()));
  }
  return absl::OkStatus();
}

/// The one rank of this process. A failure ends the group while what its calls write to is still there.
absl::Status runOnProcess(Executable executable, int threads, const RankBody &body, Communicator &process) {
  absl::StatusOr<std::unique_ptr<Device>> device = openCpuDevice(executable.target.instructionSet, threads);
  if (!device.ok())
    return withExitCode(device.status(), ExitCode::Config);
  return runRank(std::move(executable), **device, process, [&](Executor &executor, Communicator &world) {
    absl::Status status = body(executor, world);
    if (!status.ok())
      world.abort(status);
    return status;
  });
}

} // namespace

absl::Status runOnRanks(Executable executable, int threads, const RankBody &body, Communicator *process) {
  if (process != nullptr)
    return runOnProcess(std::move(executable), threads, body, *process);
  const size_t count = static_cast<size_t>(executable.mesh.ranks());
  absl::StatusOr<std::vector<std::unique_ptr<Communicator>>> group =
      createLocalGroup(static_cast<int>(std::min<size_t>(count, std::numeric_limits<int>::max())));
  if (!group.ok())
    return withExitCode(group.status(), ExitCode::Config);
  Ranks ranks;
  ranks.communicators = *std::move(group);
  for (size_t rank = 0; rank < count; ++rank) {
    absl::StatusOr<std::unique_ptr<Device>> device = openCpuDevice(executable.target.instructionSet, threads);
    if (!device.ok())
      return withExitCode(device.status(), ExitCode::Config);
    ranks.devices.push_back(*std::move(device));
  }
  ranks.executables.assign(count - 1, executable);
  ranks.executables.push_back(std::move(executable));
  std::vector<std::thread> others;
  absl::Status started = startOthers(ranks, body, others);
  runRankToItsEnd(ranks, 0,
                  started.ok() ? body : RankBody([&](Executor &, Communicator &) { return started; }));
  for (std::thread &other : others)
    other.join();
  return ranks.firstFailure;
}

absl::Status checkMesh(const Executable &executable, const Config &config) {
  const int64_t compiled = executable.mesh.ranks(), wanted = config.parallel.ranks();
  const int64_t data = executable.mesh.sizeOf(executable.mesh.axesOf("data"));
  if (compiled == wanted && data == config.parallel.dataRanks())
    return absl::OkStatus();
  return withExitCode(
      absl::FailedPreconditionError(
          absl::StrCat("the program is for ", compiled, compiled == 1 ? " rank, " : " ranks, ", data,
                       " of them data ranks; parallel asks for ", wanted, ", ", config.parallel.dataRanks(),
                       " of them data ranks. Compile it again: weft compile RUN.yaml -o RUN.weft")),
      ExitCode::Config);
}

} // namespace weft
