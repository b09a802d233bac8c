//===- MpiRequests.h - The messages of one call ---------------------------===//
//
// Sends and receives that were begun, until all are done. MPI counts in int, so a message over the chunk size
// goes in several, which both sides cut alike. All functions are called under mpiLock(). Internal to
// runtime/comm/mpi.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_COMM_MPI_MPIREQUESTS_H
#define WEFT_RUNTIME_COMM_MPI_MPIREQUESTS_H

#include "runtime/comm/mpi/MpiLibrary.h"

#include "absl/status/statusor.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft {

class MpiRequests {
public:
  explicit MpiRequests(int64_t chunkBytes) : chunkBytes(chunkBytes) {}

  /// Begins a message of `bytes` (none for 0) with `peer`, a rank of `communicator`.
  absl::Status receive(void *to, int64_t bytes, int peer, int tag, MPI_Comm communicator);
  absl::Status send(const void *from, int64_t bytes, int peer, int tag, MPI_Comm communicator);
  /// A send that is not done before the peer has begun to receive it.
  absl::Status sendMet(const void *from, int64_t bytes, int peer, int tag, MPI_Comm communicator);
  /// The same of a short message, which goes whole, and even without bytes.
  absl::Status receiveWhole(void *to, int bytes, int peer, int tag, MPI_Comm communicator);
  absl::Status sendWhole(const void *from, int bytes, int peer, int tag, MPI_Comm communicator);

  /// Moves things on; true when every message is done. They are then forgotten.
  absl::StatusOr<bool> test();
  /// Calls see(peer) for each message that has not come yet, or that the peer has not begun to receive.
  template <typename See> void forEachMissing(const See &see) const {
    for (size_t i = 0; i < requests.size(); ++i)
      if (requests[i] != MPI_REQUEST_NULL && owners[i].owes)
        see(owners[i].peer);
  }
  /// Gives up on what is not done: peers' messages are no longer written anywhere, as far as MPI can tell.
  void abandon();

private:
  struct Owner {
    int peer = 0;
    int bytes = 0;
    bool isReceive = false;
    bool owes = false; ///< whether the peer must do something before the message is done
  };

  absl::Status keep(MPI_Request request, const Owner &owner);
  static absl::Status checkLength(const Owner &owner, const MPI_Status &outcome);

  int64_t chunkBytes;
  std::vector<MPI_Request> requests;
  std::vector<Owner> owners; ///< by request
  std::vector<int> done;
  std::vector<MPI_Status> outcomes;
};

} // namespace weft

#endif // WEFT_RUNTIME_COMM_MPI_MPIREQUESTS_H
