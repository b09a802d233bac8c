//===- Traffic.h - How many bytes a rank sends ----------------------------===//
//
// The textbook amounts, that is those of a ring: what compiled programs are judged by, on every transport. A
// rank of n sends (n-1)/n of the whole tensor in an all_gather, a reduce_scatter or a broadcast, twice that
// in an all_reduce, (n-1)/n of its part in an all_to_all, and its part in a shift; fractions of a byte are
// rounded up. A send is its operand, once, on the rank that sends. Other rank kernels send nothing.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_KERNELS_COLLECTIVE_TRAFFIC_H
#define WEFT_KERNELS_COLLECTIVE_TRAFFIC_H

#include "kernels/common/KernelCall.h"

#include <array>
#include <cstdint>
#include <string_view>

namespace weft {

enum class CollectiveOp : uint8_t {
  Barrier,
  Broadcast,
  AllGather,
  AllReduce,
  ReduceScatter,
  AllToAll,
  Shift,
  Send
};
inline constexpr size_t kCollectiveOps = 8;
/// barrier, broadcast, all_gather, ...: as kernels are called.
std::string_view name(CollectiveOp operation);

/// What one rank of `ranks` sends. `bytes`: of the whole tensor; of a rank's part for AllToAll, Shift and
/// Send.
int64_t bytesSent(CollectiveOp operation, int64_t bytes, int64_t ranks);
/// The same of a kernel call over a group of `ranks`; 0 for a kernel that is no collective.
int64_t bytesSent(const KernelCall &call, int64_t ranks);

/// One rank's count, by operation.
struct Traffic {
  struct Count {
    int64_t calls = 0;
    int64_t bytes = 0; ///< sent
    bool operator==(const Count &) const = default;
  };
  std::array<Count, kCollectiveOps> counts;

  Count &operator[](CollectiveOp operation) { return counts[static_cast<size_t>(operation)]; }
  const Count &operator[](CollectiveOp operation) const { return counts[static_cast<size_t>(operation)]; }
  /// Bytes sent by all operations together.
  int64_t bytes() const;
  /// What came after `earlier`, a count of the same rank.
  Traffic since(const Traffic &earlier) const;
  bool operator==(const Traffic &) const = default;
};

} // namespace weft

#endif // WEFT_KERNELS_COLLECTIVE_TRAFFIC_H
