//===- MpiControl.h - Word of leaving and of failing ----------------------===//
//
// What ranks tell each other outside of calls: that one leaves, and that the group has ended, with the cause.
// Short messages over a communicator of their own, looked for whenever a rank waits. All functions are called
// under mpiLock(). Internal to runtime/comm/mpi.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_COMM_MPI_MPICONTROL_H
#define WEFT_RUNTIME_COMM_MPI_MPICONTROL_H

#include "runtime/comm/mpi/MpiLibrary.h"

#include <list>
#include <string>
#include <vector>

namespace weft {

class MpiControl {
public:
  /// `communicator`: of all ranks, for this alone. It is not freed.
  MpiControl(MPI_Comm communicator, int rank, int size);

  /// Tells all others. A failure is told once; the first that this rank tells or hears of counts.
  void tellLeft();
  void tellFailure(const absl::Status &status);
  /// This rank alone ends with a failure, of which others hear otherwise.
  void fail(const absl::Status &status);

  /// Reads what has come, and moves on what is being sent.
  absl::Status poll();

  bool hasLeft(int rank) const { return left[static_cast<size_t>(rank)]; }
  bool allHaveLeft() const;
  const absl::Status &failure() const { return failed; }
  /// Whether everything that was told has gone out.
  bool isSent() const { return outgoing.empty(); }

private:
  struct Message {
    std::string text;
    std::vector<MPI_Request> requests; ///< one for each other rank
  };

  void tell(std::string text);
  absl::Status receive();
  void hear(const std::string &text, int from);

  MPI_Comm communicator;
  int rank;
  std::vector<bool> left;
  absl::Status failed;
  std::list<Message> outgoing;
  std::string incoming;
  MPI_Request incomingRequest = MPI_REQUEST_NULL;
  int incomingFrom = 0;
};

} // namespace weft

#endif // WEFT_RUNTIME_COMM_MPI_MPICONTROL_H
