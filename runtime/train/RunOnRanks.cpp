//===- RunOnRanks.cpp - The ranks of a program that are here --------------===//
//
// Devices are opened one after another, before any rank runs: the first one sets what the whole process uses
// of the processor. One rank alone runs on the caller's thread; of several none does, so that somebody is
// left to end the process when any of them is frozen.
//
//===----------------------------------------------------------------------===//
#include "runtime/train/RunOnRanks.h"

#include "runtime/comm/LocalCommunicator.h"
#include "runtime/comm/MeshContext.h"
#include "runtime/config/ConfigMesh.h"
#include "runtime/device/OpenDevice.h"
#include "runtime/executable/Parts.h"
#include "runtime/support/ExitCode.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
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
  std::condition_variable changed;
  absl::Status firstFailure;
  size_t running = 1; ///< ranks that have not left
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
  std::lock_guard lock(ranks.mutex);
  --ranks.running;
  ranks.changed.notify_all();
}

/// Starts a thread for each rank, or for as many as the machine lets: then rank 0 gives up in their place.
void startThreads(Ranks &ranks, const RankBody &body, std::vector<std::thread> &threads) {
  const size_t count = ranks.communicators.size();
  try {
    for (size_t rank = count; rank-- > 0;) {
      std::lock_guard lock(ranks.mutex);
      threads.emplace_back([&ranks, rank, &body] { runRankToItsEnd(ranks, rank, body); });
      ranks.running += rank > 0 ? 1 : 0;
    }
  } catch (const std::system_error &error) {
    absl::Status status =
        absl::ResourceExhaustedError(absl::StrCat("a thread for rank ", count - 1 - threads.size(), " of ",
                                                  count, " cannot be started: ", error.what()));
    runRankToItsEnd(ranks, 0, [&](Executor &, Communicator &) { return status; });
  }
}

/// Waits until no rank runs. A thread cannot be ended from outside, so one that does not return after a
/// failure is ended with the process.
void awaitRanks(Ranks &ranks) {
  std::unique_lock lock(ranks.mutex);
  const auto haveEnded = [&] { return ranks.running == 0; };
  ranks.changed.wait(lock, [&] { return haveEnded() || !ranks.firstFailure.ok(); });
  if (ranks.changed.wait_for(lock, std::chrono::duration<double>(kSecondsToReturn), haveEnded))
    return;
  const absl::Status &failure = ranks.firstFailure;
  std::string text(failure.message());
  absl::StrAppend(&text, text.empty() ? "" : "\n", ranks.running, ranks.running == 1 ? " rank" : " ranks",
                  " did not stop within ", kSecondsToReturn,
                  " s after that: the process ends without them\n");
  std::fputs(text.c_str(), stderr);
  std::_Exit(static_cast<int>(exitCodeOf(failure)));
}

/// The one rank of this process. A failure ends the group while what its calls write to is still there.
absl::Status runOnProcess(std::vector<Executable> parts, std::shared_ptr<ThreadPool> pool,
                          const RankBody &body, Communicator &process) {
  Executable executable = partOf(parts, process.rank());
  parts.clear();
  absl::StatusOr<std::unique_ptr<Device>> device =
      openCpuDevice(executable.target.instructionSet, std::move(pool));
  if (!device.ok())
    return withExitCode(device.status(), ExitCode::Config);
  return runRank(std::move(executable), **device, process, [&](Executor &executor, Communicator &world) {
    absl::Status status = body(executor, world);
    if (!status.ok() && !isEndOfAll(status))
      world.abort(status);
    return status;
  });
}

} // namespace

bool isEndOfAll(const absl::Status &status) {
  const ExitCode code = exitCodeOf(status);
  return code == ExitCode::Stopped || code == ExitCode::NonFinite;
}

absl::Status runOnRanks(std::vector<Executable> parts, std::shared_ptr<ThreadPool> pool, const RankBody &body,
                        Communicator *process, const CommunicatorWrapper &wrap) {
  if (process != nullptr)
    return runOnProcess(std::move(parts), std::move(pool), body, *process);
  const size_t count = static_cast<size_t>(parts.front().mesh.ranks());
  const std::string instructionSet = parts.front().target.instructionSet;
  absl::StatusOr<std::vector<std::unique_ptr<Communicator>>> group =
      createLocalGroup(static_cast<int>(std::min<size_t>(count, std::numeric_limits<int>::max())));
  if (!group.ok())
    return withExitCode(group.status(), ExitCode::Config);
  Ranks ranks;
  for (std::unique_ptr<Communicator> &communicator : *group)
    ranks.communicators.push_back(wrap ? wrap(std::move(communicator)) : std::move(communicator));
  for (size_t rank = 0; rank < count; ++rank) {
    absl::StatusOr<std::unique_ptr<Device>> device = openCpuDevice(instructionSet, pool);
    if (!device.ok())
      return withExitCode(device.status(), ExitCode::Config);
    ranks.devices.push_back(*std::move(device));
  }
  for (size_t rank = 0; rank < count; ++rank)
    ranks.executables.push_back(partOf(parts, static_cast<int64_t>(rank)));
  parts.clear();
  if (count == 1) {
    runRankToItsEnd(ranks, 0, body);
    return ranks.firstFailure;
  }
  std::vector<std::thread> started;
  startThreads(ranks, body, started);
  awaitRanks(ranks);
  for (std::thread &thread : started)
    thread.join();
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
