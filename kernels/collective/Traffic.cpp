#include "kernels/collective/Traffic.h"

#include <algorithm>

namespace weft {

static constexpr std::array<std::string_view, kCollectiveOps> kNames = {
    "barrier", "broadcast", "all_gather", "all_reduce", "reduce_scatter", "all_to_all", "shift", "send"};

std::string_view name(CollectiveOp operation) { return kNames[static_cast<size_t>(operation)]; }

int64_t bytesSent(CollectiveOp operation, int64_t bytes, int64_t ranks) {
  int64_t others = ranks - 1;
  if (operation == CollectiveOp::Barrier)
    return 0;
  if (operation == CollectiveOp::Shift || operation == CollectiveOp::Send)
    return ranks > 1 ? bytes : 0;
  if (operation == CollectiveOp::AllReduce)
    others *= 2;
  // Divided first: bytes * others may not fit.
  return bytes / ranks * others + (bytes % ranks * others + ranks - 1) / ranks;
}

int64_t bytesSent(const KernelCall &call, int64_t ranks) {
  auto found = std::find(kNames.begin(), kNames.end(), call.name);
  auto operation = static_cast<CollectiveOp>(found - kNames.begin());
  // No kernel is a barrier, or sends one rank's bytes to all: `broadcast` repeats a tensor along a dimension.
  if (found == kNames.end() || operation == CollectiveOp::Barrier || operation == CollectiveOp::Broadcast ||
      call.operands.size() != 1 || call.results.size() != (operation == CollectiveOp::Send ? 0 : 1))
    return 0;
  const TensorType &counted =
      operation == CollectiveOp::AllGather ? call.results.front() : call.operands.front();
  return bytesSent(operation, counted.bytes(), ranks);
}

int64_t Traffic::bytes() const {
  int64_t sum = 0;
  for (const Count &count : counts)
    sum += count.bytes;
  return sum;
}

Traffic Traffic::since(const Traffic &earlier) const {
  Traffic difference = *this;
  for (size_t i = 0; i < kCollectiveOps; ++i) {
    difference.counts[i].calls -= earlier.counts[i].calls;
    difference.counts[i].bytes -= earlier.counts[i].bytes;
  }
  return difference;
}

} // namespace weft
