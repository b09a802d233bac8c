//===- JobProcesses.cpp - The processes that share a job ------------------===//
//
// Whoever fails tells rank 0, which prints: a process prints itself only when rank 0 does not answer. Only
// then do processes end, since the first that ends takes the launcher's patience with the others away.
//
//===----------------------------------------------------------------------===//
#include "runtime/train/JobProcesses.h"

#include "kernels/common/ThreadPool.h"
#include "runtime/support/ExitCode.h"
#include "runtime/support/Processors.h"
#include "runtime/train/RankAgreement.h"
#include "runtime/train/RunOnRanks.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include <unistd.h>

namespace weft {
namespace {

absl::Status withMessage(const absl::Status &status, absl::string_view message) {
  absl::Status other(status.code(), message);
  status.ForEachPayload(
      [&](absl::string_view key, const absl::Cord &payload) { other.SetPayload(key, payload); });
  return other;
}

/// Puts a failure on standard error, unless that was done or rank 0 does it; returns it without its message.
absl::Status tell(const absl::Status &status, int own, bool hasRankZeroLeft) {
  const bool isLoss = exitCodeOf(status) == ExitCode::PeerLost && !isOfAnotherRank(status);
  const bool isTold = status.message().empty() || (own != 0 && !isLoss && hasRankZeroLeft);
  if (!isTold) {
    const std::string line =
        absl::StrCat(own == 0 ? "" : absl::StrCat("rank ", own, ": "), status.message(), "\n");
    std::fwrite(line.data(), 1, line.size(), stderr);
  }
  return withMessage(status, "");
}

std::string hostName() {
  std::array<char, 256> name = {};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data()) : std::string();
}

/// The library sees other processes than the launcher started: it was started by another MPI's launcher, or
/// by srun without the plugin that Open MPI speaks.
absl::Status otherMpi(const Launcher &launcher, int seen) {
  return withExitCode(absl::FailedPreconditionError(absl::StrCat(
                          launcher.name, " started ", launcher.size, " processes, and Open MPI sees ", seen,
                          launcher.name == "srun"
                              ? ". Works: srun --mpi=pmix (srun --mpi=list shows what there is), or mpirun"
                              : ". Works: the mpirun of Open MPI 4.1")),
                      ExitCode::Config);
}

} // namespace

WaitLimits limitsOf(const Config &config) {
  const TimeoutConfig &timeout = config.launch.timeout;
  return {timeout.start, timeout.step, timeout.save};
}

absl::StatusOr<JobProcesses> JobProcesses::join(const std::optional<Launcher> &launcher, const Config &config,
                                                const std::string &command) {
  JobProcesses processes;
  const bool wanted = config.launch.comm == CommKind::Mpi;
  if (!launcher && wanted)
    return withExitCode(
        absl::FailedPreconditionError(absl::StrCat(
            "launch.comm: mpi, and no launcher started this process. Works: mpirun -n ",
            config.parallel.ranks(), " ", command, ", or launch.comm: local (all ranks in this process)")),
        ExitCode::Config);
  if (!launcher || (launcher->size == 1 && !wanted))
    return processes;
  MpiOptions options;
  options.checksCalls = config.launch.checkCollectives;
  absl::StatusOr<std::unique_ptr<MpiCommunicator>> world = MpiCommunicator::create(options);
  if (!world.ok())
    return world.status();
  const int seen = (*world)->size();
  if (seen != launcher->size) {
    world->reset();
    endMpi();
    const absl::Status status = otherMpi(*launcher, seen);
    return launcher->rank == 0 ? status : withMessage(status, "");
  }
  processes.world = *std::move(world);
  absl::Status status = processes.openWatch(config);
  if (status.ok())
    status = processes.compareMachines();
  if (!status.ok())
    return processes.end(status);
  return processes;
}

/// From here on a process that dies is noticed.
absl::Status JobProcesses::openWatch(const Config &config) {
  const int rank = world->rank(), size = world->size();
  if (size == 1)
    return absl::OkStatus();
  absl::StatusOr<std::unique_ptr<SocketWatch>> opened = SocketWatch::open(rank, size);
  if (absl::Status status = agree(opened.status()); !status.ok())
    return status;
  const PeerEndpoint mine = (*opened)->endpoint();
  std::vector<PeerEndpoint> all(static_cast<size_t>(size));
  if (absl::Status status =
          world->allGather(std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(std::span(all)));
      !status.ok())
    return status;
  constexpr double kSecondsToConnect = 60;
  if (absl::Status status = agree((*opened)->connect(all, kSecondsToConnect)); !status.ok())
    return status;
  watch = *std::move(opened);
  world->setWatch(watch.get());
  world->setLimits(limitsOf(config));
  return absl::OkStatus();
}

void JobProcesses::setStandIn(SocketWatch::StandIn standIn) {
  if (watch)
    watch->setStandIn(std::move(standIn), {});
}

void JobProcesses::closeWatch() {
  if (world)
    world->setWatch(nullptr);
  watch.reset();
}

JobProcesses::~JobProcesses() { closeWatch(); }

/// Finds the ranks on this machine, and what each process may use of its processors: the fewest of all.
absl::Status JobProcesses::compareMachines() {
  const std::string host = hostName(), mine = absl::StrCat(host, " ", processorList());
  absl::StatusOr<std::vector<std::string>> all = gatherTexts(*world, mine);
  if (!all.ok())
    return all.status();
  together = std::count_if(all->begin(), all->end(), [&](const std::string &other) {
    return other.substr(0, other.find(' ')) == host;
  });
  processors = availableProcessors() / std::count(all->begin(), all->end(), mine);
  return world->allReduce(std::as_writable_bytes(std::span(&processors, 1)), DType::I64, ReduceKind::Min);
}

int64_t JobProcesses::ranksOnMachine(const Config &config) const {
  return areSeparate() ? together : config.parallel.ranks();
}

int64_t JobProcesses::threads(const Config &config) const {
  const int64_t own = areSeparate() ? processors : availableProcessors();
  return config.launch.threads.value_or(std::clamp<int64_t>(own, 1, ThreadPool::kMostThreads));
}

absl::Status JobProcesses::agree(const absl::Status &mine) {
  if (!world)
    return mine;
  absl::Status agreed = agreeOn(*world, mine);
  isAgreed = !agreed.ok();
  return agreed;
}

absl::Status JobProcesses::share(std::string &text) {
  if (!world)
    return absl::OkStatus();
  uint64_t length = text.size();
  if (absl::Status status = world->broadcast(std::as_writable_bytes(std::span(&length, 1)), 0); !status.ok())
    return status;
  text.resize(length);
  return world->broadcast(std::as_writable_bytes(std::span(text)), 0);
}

absl::Status JobProcesses::end(absl::Status status) {
  if (!world)
    return status;
  const int own = world->rank();
  if (!status.ok() && !isAgreed && !isEndOfAll(status))
    world->abort(status);
  const std::vector<int> others = world->leave();
  if (own == 0 && status.ok())
    status = world->failure();
  if (!status.ok())
    status = tell(status, own, std::find(others.begin(), others.end(), 0) == others.end());
  if (!status.ok() && watch)
    watch->awaitReports();
  closeWatch();
  world.reset();
  endMpi();
  return status;
}

} // namespace weft
