//===- MpiGroup.h - One rank's end of all processes -----------------------===//
//
// The shared state behind an MPI communicator and its exchanges: who has left, what has failed, what was
// sent, and how this rank waits. Waiting is test and sleep, with sleeps that grow: a rank that waits leaves
// its core to others. There is one MPI communicator for each set of ranks that meets (MpiChannel). Internal
// to runtime/comm/mpi.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_COMM_MPI_MPIGROUP_H
#define WEFT_RUNTIME_COMM_MPI_MPIGROUP_H

#include "runtime/comm/PeerWatch.h"
#include "runtime/comm/mpi/MpiCommunicator.h"
#include "runtime/comm/mpi/MpiControl.h"
#include "runtime/comm/mpi/MpiRequests.h"

#include "absl/status/statusor.h"

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace weft {

struct MpiChannel;
struct MpiLineState;

/// A wait that has a name.
class MpiWait : public PeerWait {
public:
  /// The call, as messages name it: all_reduce #12 of 4096 bytes f32 (sum, ...) over ranks 0 1.
  virtual std::string describe() const = 0;
};

class MpiGroup {
public:
  /// Over the ranks of `parent`, all of which call it.
  static absl::StatusOr<std::shared_ptr<MpiGroup>> create(MPI_Comm parent, const MpiOptions &options);
  ~MpiGroup();

  int rank() const { return own; }
  int size() const { return ranks; }
  const MpiOptions &settings() const { return options; }
  /// Asked while this rank waits, and told what it does. It outlives the group, or is taken away again
  /// (null).
  void setWatch(PeerWatch *newWatch) { watch = newWatch; }
  PeerWatch *currentWatch() const { return watch; }

  /// The channel of these ranks, this one among them; all of them call it.
  absl::StatusOr<MpiChannel *> channel(const std::vector<int> &members);

  /// The lines to and from another rank.
  MpiLineState &line(int peer);
  /// All ranks, as members of waits on the communicator of all.
  std::span<const int> everyone() const { return all; }

  /// A call begins: refused when another is not over, and when it cannot go on. `isKept`: a failure stays,
  /// and fails further kept calls.
  absl::Status enter(const CollectiveCall &call, uint64_t number, std::span<const int> members,
                     const MpiWait &what, bool isKept);
  /// It is over; with a failure, it is kept where failures are, and all transfers of this rank are given up.
  void exit(const absl::Status &status, bool isKept);
  /// All members have come to it.
  void count(const CollectiveCall &call);

  /// Returns when all messages are done; any error ends them. `members`: the ranks of the messages' peers.
  absl::Status wait(MpiRequests &requests, std::span<const int> members, const MpiWait &what);
  /// Gives up on messages.
  void abandon(MpiRequests &requests);
  /// Members called differently: the end of the group, which one of them tells all others.
  void failAll(const absl::Status &status, bool tells);

  void abort(const absl::Status &cause);
  /// Tells the others, and waits a while for them to leave too. The ranks that have not.
  std::vector<int> leave();
  absl::Status keptFailure() const;
  absl::Status failure() const;
  Traffic traffic() const;

private:
  MpiGroup(MPI_Comm calls, MPI_Comm words, int rank, int size, const MpiOptions &options);
  std::vector<int> others() const;
  absl::StatusOr<MPI_Comm> formChannel(const std::vector<int> &members);
  absl::StatusOr<bool> testOnce(MpiRequests &requests, std::span<const int> members, const MpiWait &what);
  void abandonLines();
  absl::Status checkLost(const MpiRequests &requests, std::span<const int> members, const MpiWait &what);

  MpiOptions options;
  PeerWatch *watch = nullptr;
  int own, ranks;
  MPI_Comm calls; ///< of all ranks, for calls
  MPI_Comm words; ///< of all ranks, for control
  MpiControl control;
  std::vector<int> all;
  std::map<std::vector<int>, std::unique_ptr<MpiChannel>> channels;
  std::map<int, std::unique_ptr<MpiLineState>> lines; ///< by peer
  bool inCall = false;
  bool isWhole = true; ///< no message was given up
  absl::Status kept;
  Traffic sent;
  std::optional<std::chrono::steady_clock::time_point> lostSince; ///< of the wait at hand
};

} // namespace weft

#endif // WEFT_RUNTIME_COMM_MPI_MPIGROUP_H
