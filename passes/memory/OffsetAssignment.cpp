#include "passes/memory/OffsetAssignment.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <map>

namespace weft {
namespace {
/// The most bytes live at once, and at which command.
void findLowerBound(llvm::ArrayRef<Lifetime> lifetimes, OffsetPlan &plan) {
  std::map<int64_t, int64_t> changes;
  for (const Lifetime &lifetime : lifetimes) {
    changes[lifetime.begin] += lifetime.bytes;
    changes[lifetime.end + 1] -= lifetime.bytes;
  }
  int64_t live = 0;
  for (auto [command, change] : changes) {
    live += change;
    if (live > plan.lowerBound)
      plan.lowerBound = live, plan.peakCommand = command;
  }
}
} // namespace

OffsetPlan assignOffsets(llvm::ArrayRef<Lifetime> lifetimes) {
  OffsetPlan plan;
  plan.offsets.assign(lifetimes.size(), 0);
  findLowerBound(lifetimes, plan);
  auto order = llvm::to_vector(llvm::seq<size_t>(0, lifetimes.size()));
  llvm::stable_sort(order, [&](size_t a, size_t b) { return lifetimes[a].bytes > lifetimes[b].bytes; });
  llvm::SmallVector<size_t> placed; // by offset
  for (size_t index : order) {
    int64_t offset = 0;
    for (size_t other : placed) {
      if (!lifetimes[other].overlaps(lifetimes[index]))
        continue;
      if (plan.offsets[other] >= offset + lifetimes[index].bytes)
        break;
      offset = std::max(offset, plan.offsets[other] + lifetimes[other].bytes);
    }
    plan.offsets[index] = offset;
    plan.peakBytes = std::max(plan.peakBytes, offset + lifetimes[index].bytes);
    auto place = llvm::upper_bound(placed, offset,
                                   [&](int64_t value, size_t other) { return value < plan.offsets[other]; });
    placed.insert(place, index);
  }
  return plan;
}

} // namespace weft
