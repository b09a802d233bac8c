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

struct Offsets {
  llvm::SmallVector<int64_t> offsets;
  int64_t peakBytes = 0;
};

/// Each buffer in turn at the lowest gap that fits.
Offsets placeInOrder(llvm::ArrayRef<Lifetime> lifetimes, llvm::ArrayRef<size_t> order) {
  Offsets placed;
  placed.offsets.assign(lifetimes.size(), 0);
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
    placed.offsets[index] = offset;
    placed.peakBytes = std::max(placed.peakBytes, offset + own.bytes);
    rows[offset].add(own, offset);
  }
  return placed;
}

/// What comes first: the lower key, then who begins first.
using OrderKey = int64_t (*)(const Lifetime &);
constexpr OrderKey kOrders[] = {
    [](const Lifetime &buffer) { return -buffer.bytes; },
    [](const Lifetime &buffer) { return buffer.begin; },
    [](const Lifetime &buffer) { return buffer.begin - buffer.end; },
    [](const Lifetime &buffer) { return (buffer.begin - buffer.end - 1) * (buffer.bytes / kPlaceAlignment); },
};
} // namespace

OffsetPlan assignOffsets(llvm::ArrayRef<Lifetime> lifetimes) {
  OffsetPlan plan;
  findLowerBound(lifetimes, plan);
  auto order = llvm::to_vector(llvm::seq<size_t>(0, lifetimes.size()));
  for (OrderKey key : kOrders) {
    llvm::sort(order, [&](size_t a, size_t b) {
      return std::tuple(key(lifetimes[a]), lifetimes[a].begin, a) <
             std::tuple(key(lifetimes[b]), lifetimes[b].begin, b);
    });
    Offsets placed = placeInOrder(lifetimes, order);
    if (plan.offsets.empty() || placed.peakBytes < plan.peakBytes) {
      plan.offsets = std::move(placed.offsets);
      plan.peakBytes = placed.peakBytes;
    }
    if (plan.peakBytes == plan.lowerBound)
      break;
  }
  return plan;
}

} // namespace weft
