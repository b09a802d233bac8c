//===- JobProcesses.h - The processes that share a job --------------------===//
//
// A job's ranks are threads of one process, or processes that a launcher started. Commands are written for
// both: each step that a process could fail in is agreed on before the next is begun, so all processes end
// with one message, told once, and with one exit code.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TRAIN_JOBPROCESSES_H
#define WEFT_RUNTIME_TRAIN_JOBPROCESSES_H

#include "runtime/comm/SocketWatch.h"
#include "runtime/comm/mpi/MpiCommunicator.h"
#include "runtime/config/Config.h"
#include "runtime/support/Launcher.h"

#include "absl/status/statusor.h"

#include <memory>
#include <optional>
#include <string>

namespace weft {

/// How long ranks wait for each other.
WaitLimits limitsOf(const Config &config);

class JobProcesses {
public:
  JobProcesses(JobProcesses &&) = default;
  JobProcesses &operator=(JobProcesses &&) = default;
  ~JobProcesses();

  /// Joins the processes that `launcher` started; without several, and unless launch.comm is mpi, this one is
  /// the whole job. `command` is what a message tells to start: "weft train run.yaml".
  static absl::StatusOr<JobProcesses> join(const std::optional<Launcher> &launcher, const Config &config,
                                           const std::string &command);

  /// Whether each rank is a process; else all of them are threads of this one.
  bool areSeparate() const { return world != nullptr; }
  /// Whether rank 0 is here.
  bool leads() const { return !world || world->rank() == 0; }
  /// This process's rank; 0 where all ranks are here.
  int rank() const { return world ? world->rank() : 0; }
  /// Of the processes; null where all ranks are threads.
  Communicator *communicator() const { return world.get(); }

  /// How many of the job's ranks share this machine's memory.
  int64_t ranksOnMachine(const Config &config) const;
  /// The threads that compute in this process: launch.threads, or one for each processor that is its own, as
  /// many in all processes.
  int64_t threads(const Config &config) const;

  /// OK where every process's status is; else that of the lowest rank, on all of them.
  absl::Status agree(const absl::Status &mine);
  /// Rank 0's text becomes that of all.
  absl::Status share(std::string &text);

  /// What is done when the job has failed and this process computes, or does not end: see SocketWatch. On a
  /// thread of its own; `standIn` lives until end().
  void setStandIn(SocketWatch::StandIn standIn);

  /// The end: leaves, and gives the status with which the process ends. A failure that no other process tells
  /// is on standard error by then, its message empty; and all others have reported theirs, or had the time.
  absl::Status end(absl::Status status);

private:
  JobProcesses() = default;
  absl::Status openWatch(const Config &config);
  absl::Status compareMachines();
  void closeWatch();

  std::unique_ptr<MpiCommunicator> world;
  std::unique_ptr<SocketWatch> watch; ///< of several processes; it names what belongs to `world`
  int64_t together = 0;               ///< ranks on this machine
  int64_t processors = 1;             ///< of each process
  bool isAgreed = false;              ///< a failure is known to all
};

} // namespace weft

#endif // WEFT_RUNTIME_TRAIN_JOBPROCESSES_H
