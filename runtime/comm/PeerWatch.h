//===- PeerWatch.h - Who looks after a rank that waits --------------------===//
//
// Between processes nothing but silence tells that a peer is gone. A rank that waits in a collective asks its
// watch again and again whether to go on waiting, and has ready what a report must say: the call, since when,
// and which ranks have not come.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_COMM_PEERWATCH_H
#define WEFT_RUNTIME_COMM_PEERWATCH_H

#include "absl/status/status.h"

#include <chrono>
#include <string>
#include <vector>

namespace weft {

/// A rank's wait in one call; valid during PeerWatch::check().
class PeerWait {
public:
  virtual ~PeerWait() = default;
  virtual std::chrono::steady_clock::time_point since() const = 0;
  /// The call, as messages call it: all_reduce #12 of 4096 bytes f32 (sum, ...) over ranks 0 1.
  virtual std::string describe() const = 0;
  /// The ranks of whom something is still to come, in ascending order.
  virtual std::vector<int> missing() const = 0;
};

class PeerWatch {
public:
  virtual ~PeerWatch() = default;
  /// Called on the waiting thread, a few times a millisecond at most, from the first pause of a wait on. A
  /// status that is not OK ends the wait, and every call of this rank from then on, with that status.
  virtual absl::Status check(const PeerWait &wait) = 0;
};

} // namespace weft

#endif // WEFT_RUNTIME_COMM_PEERWATCH_H
