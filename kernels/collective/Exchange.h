//===- Exchange.h - Members of a group read each other's memory -----------===//
//
// What a collective kernel runs on: the members of a group, each a thread of one address space, meet with
// their operands and results, and then each reads what it needs straight from its peers' memory. A call goes
// begin -> (meet) -> end. begin() waits until every member has come with the same call; from there on nothing
// can fail any more, so a peer's memory is valid until end(). A begin() that fails has published nothing:
// the kernel returns, and RankContext::status() tells the executor why.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_KERNELS_COLLECTIVE_EXCHANGE_H
#define WEFT_KERNELS_COLLECTIVE_EXCHANGE_H

#include "kernels/collective/Traffic.h"
#include "kernels/common/Types.h"

#include "absl/status/status.h"

#include <optional>
#include <span>
#include <string_view>

namespace weft {

/// What all members of a group must call alike; two calls are the same when all of it is equal. Whoever calls
/// begin() keeps `detail` alive until it returns.
struct CollectiveCall {
  CollectiveOp operation = CollectiveOp::Barrier;
  std::optional<DType> type; ///< none: bytes without a meaning
  int64_t bytes = 0;         ///< of the operand
  int64_t sent = 0;          ///< what this call counts in Traffic
  std::string_view detail;   ///< whatever else must agree: kind, dimension, types, location in the program
  bool operator==(const CollectiveCall &) const = default;
};

/// One member's end of a group. Members make their calls one at a time, in the same order.
class Exchange {
public:
  virtual ~Exchange() = default;
  /// This member's place in the group, and the number of members.
  virtual int member() const = 0;
  virtual int size() const = 0;

  /// Publishes this member's memory and waits for all others. InvalidArgument, naming both sides, on all
  /// members when two of them call differently, or wait for each other in different groups; Unavailable when
  /// one of them has left. No allocation unless it fails.
  virtual absl::Status begin(const CollectiveCall &call, const void *operand, void *result) = 0;
  /// The members' memory, in the order of the group; between begin() and end().
  virtual std::span<const void *const> operands() const = 0;
  virtual std::span<void *const> results() const = 0;
  /// Returns when every member has come here.
  virtual void meet() = 0;
  /// The same, and the call is over: peers read this member's memory no longer.
  virtual void end() = 0;
};

} // namespace weft

#endif // WEFT_KERNELS_COLLECTIVE_EXCHANGE_H
