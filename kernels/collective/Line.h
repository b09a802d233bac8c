//===- Line.h - One rank sends to another ---------------------------------===//
//
// Between two ranks there is a line in each direction. The k-th send of a line meets the k-th receive at its
// other end: that is one transfer, which is over when both have begun and the bytes are there. Sends and
// receives begin and never wait; the k-th finish waits for the k-th transfer. From the begin to the finish a
// sender's memory must stay as it is, and a receiver's must not be touched.
//
// A failure leaves word in RankContext::status(). Then no transfer of this rank goes on, and its memory is
// neither read nor written any more: it may be given back.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_KERNELS_COLLECTIVE_LINE_H
#define WEFT_KERNELS_COLLECTIVE_LINE_H

#include "kernels/collective/Exchange.h"

#include <cstddef>

namespace weft {

/// One rank's ends of the lines to and from another rank. All calls are this rank's: with those of its
/// exchanges they are made one at a time.
class Line {
public:
  virtual ~Line() = default;

  /// Begins to send call.bytes from `from`, or to receive them in `to`. Both ends say the same call, of
  /// operation Send; else InvalidArgument, naming both. No allocation by our code once as many transfers were
  /// under way, unless it fails.
  virtual absl::Status send(const CollectiveCall &call, const void *from) = 0;
  virtual absl::Status receive(const CollectiveCall &call, void *to) = 0;

  /// Waits for the first transfer of the line that was not waited for. InvalidArgument when none was begun,
  /// or when ranks wait for each other in a ring; Unavailable when the other rank has left.
  virtual absl::Status finishSend() = 0;
  virtual absl::Status finishReceive() = 0;
};

} // namespace weft

#endif // WEFT_KERNELS_COLLECTIVE_LINE_H
