#include "passes/memory/OffsetAssignment.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

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

/// The buffers at one offset. They share their first byte, so no two of them live together.
class Row {
public:
  /// Where the last of those ends that live together with `lifetime`; 0 if none does.
  int64_t topBeside(const Lifetime &lifetime) const {
    int64_t top = 0;
    auto next = llvm::upper_bound(entries, lifetime.end, beginsBehind);
    while (next != entries.begin() && (--next)->end >= lifetime.begin)
      top = std::max(top, next->top);
    return top;
  }

  void add(const Lifetime &lifetime, int64_t offset) {
    entries.insert(llvm::upper_bound(entries, lifetime.begin, beginsBehind),
                   {lifetime.begin, lifetime.end, offset + lifetime.bytes});
  }

private:
  struct Entry {
    int64_t begin, end, top;
  };
  static bool beginsBehind(int64_t command, const Entry &entry) { return command < entry.begin; }
  llvm::SmallVector<Entry, 4> entries; // by begin, and so by end
};
} // namespace

OffsetPlan assignOffsets(llvm::ArrayRef<Lifetime> lifetimes) {
  OffsetPlan plan;
  plan.offsets.assign(lifetimes.size(), 0);
  findLowerBound(lifetimes, plan);
  auto order = llvm::to_vector(llvm::seq<size_t>(0, lifetimes.size()));
  llvm::stable_sort(order, [&](size_t a, size_t b) {
    return std::pair(-lifetimes[a].bytes, lifetimes[a].begin) <
           std::pair(-lifetimes[b].bytes, lifetimes[b].begin);
  });
  std::map<int64_t, Row> rows; // by offset
  for (size_t index : order) {
    const Lifetime &own = lifetimes[index];
    if (own.bytes == 0)
      continue;
    int64_t offset = 0;
    for (const auto &[start, row] : rows) {
      if (start >= offset + own.bytes)
        break;
      offset = std::max(offset, row.topBeside(own));
    }
    plan.offsets[index] = offset;
    plan.peakBytes = std::max(plan.peakBytes, offset + own.bytes);
    rows[offset].add(own, offset);
  }
  return plan;
}

} // namespace weft
